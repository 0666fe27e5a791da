# SPDX-License-Identifier: MIT
"""Flow of xarray's DataArrays, lazily where they hold Dask arrays.

`flow` gives a Dataset of the motion between the images of a stack; `value_range` gives the range of values
that it scales the images by. Importing this module needs the package xarray; Dask is imported only for
arrays that are Dask's.
"""

from .dataset import flow
from .frames import value_range

__all__ = ["flow", "value_range"]
