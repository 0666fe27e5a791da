# SPDX-License-Identifier: MIT
"""Methods of optical flow. Each class holds the parameters of one method."""

from ._core.flow import *  # noqa: F403
from ._core.flow import methods as methods
from ._core.flow import options as options
