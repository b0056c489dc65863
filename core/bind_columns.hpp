#pragma once

#include "bindings.hpp"
#include "unit_columns.hpp"

namespace pursuit {

// The columns of X as they are stored.
inline std::unique_ptr<UnitColumns> unit_columns(const Matrix& X) {
  std::unique_ptr<UnitColumns> out;
  X.visit([&]<class D>(const D& x) {
    using T = std::remove_cvref_t<decltype(*x.data)>;
    if constexpr (is_dense<D>)
      out = std::make_unique<DenseUnitColumns<T>>(x);
    else
      out = std::make_unique<SparseUnitColumns<T, std::remove_cvref_t<decltype(*x.indices)>>>(x);
  });
  return out;
}

} // namespace pursuit
