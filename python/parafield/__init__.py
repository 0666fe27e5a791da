# SPDX-License-Identifier: MIT
"""Dense optical flow, stereo and motion detection on CPUs and CUDA GPUs."""

from ._core import __version__

__all__ = ["__version__"]
