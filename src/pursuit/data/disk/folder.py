"""Row blocks in a folder: mapped arrays behind a design, read when a question comes, let go after it."""

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..._utils.lazy import lazy
from ...designs import Design, as_design
from .files import Mapped
from .manifest import CSR, DENSE, Block, Manifest


class FolderBlock:
    """One block of a data set; it pickles to the names of its files."""

    def __init__(self, folder: Path, manifest: Manifest, block: Block) -> None:
        keys = CSR if manifest.sparse else DENSE
        self.files = {key: Mapped(folder, block.files[key]) for key in keys}
        self.shape, self.dtype = (block.rows, manifest.shape[1]), np.dtype(manifest.dtype)
        self.nbytes, self.full = sum(file.entry.nbytes for file in self.files.values()), not manifest.sparse

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in self.__dict__.items() if key != "_design"}

    sampleable = True

    def read(self, few: bool = False) -> Design:
        for file in self.files.values():
            file.check(few)
        return self._design

    @lazy
    def _design(self) -> Design:
        arrays = [file.array for file in self.files.values()]
        if self.full:
            return as_design(arrays[0])
        try:
            return as_design(sp.csr_array(tuple(arrays), shape=self.shape))
        except ValueError as error:
            raise ValueError(f"{self.files['indices'].path}: {error}") from None

    def drop(self) -> None:
        for file in self.files.values():
            file.drop()
