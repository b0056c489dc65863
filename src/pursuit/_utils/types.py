"""What arrays are called, by what they hold."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.int64]  # indices, sorted where they are a support
Flags = NDArray[np.bool_]
Array = NDArray[Any]
