# SPDX-License-Identifier: MIT
"""Methods of motion detection. Each class holds the parameters of one method."""

from ._core.detection import *  # noqa: F403
from ._core.detection import methods as methods
from ._core.detection import options as options
