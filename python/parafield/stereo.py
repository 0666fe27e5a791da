# SPDX-License-Identifier: MIT
"""Methods of stereo. Each is a value: its parameters."""

from ._core.stereo import *  # noqa: F403
from ._core.stereo import methods as methods
