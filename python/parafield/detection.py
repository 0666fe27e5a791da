# SPDX-License-Identifier: MIT
"""Methods of motion detection. Each is a value: its parameters."""

from ._core.detection import *  # noqa: F403
from ._core.detection import methods as methods
