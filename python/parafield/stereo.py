# SPDX-License-Identifier: MIT
"""Methods of stereo. Each class holds the parameters of one method."""

from ._core.stereo import *  # noqa: F403
from ._core.stereo import methods as methods
from ._core.stereo import options as options
