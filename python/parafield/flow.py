# SPDX-License-Identifier: MIT
"""Methods of optical flow. Each is a value: its parameters."""

from ._core.flow import *  # noqa: F403
from ._core.flow import methods as methods
