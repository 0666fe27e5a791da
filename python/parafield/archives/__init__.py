# SPDX-License-Identifier: MIT
"""Flow of thousands of videos and image folders, on this machine or on a Dask cluster."""

from .extraction import extract
from .report import Report, Result

__all__ = ["Report", "Result", "extract"]
