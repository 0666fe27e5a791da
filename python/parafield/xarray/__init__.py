# SPDX-License-Identifier: MIT
"""Flow of xarray's DataArrays, lazily where they hold Dask arrays.

`flow` returns a Dataset of the motion between the images of a stack; `value_range` returns the range by which
it scales the images. Importing this module needs the package xarray; Dask is imported only for Dask
arrays.
"""

from .dataset import flow
from .frames import value_range

__all__ = ["flow", "value_range"]
