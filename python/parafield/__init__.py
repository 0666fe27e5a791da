# SPDX-License-Identifier: MIT
"""Dense optical flow, stereo and motion detection on CPUs and CUDA GPUs."""

from . import _core

__version__: str = _core.__version__

__all__ = ["__version__"]
