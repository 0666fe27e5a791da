# SPDX-License-Identifier: MIT
"""Errors of archives, and imports of packages that only archives need."""

import errno
import importlib
import os
import shutil
from typing import Any

import parafield as pf


class Broken(Exception):
    """A video or folder that cannot be read further. `frames` is the number of frames read before."""

    def __init__(self, message: str, frames: int = 0) -> None:
        super().__init__(message, frames)
        self.message, self.frames = message, frames

    def __str__(self) -> str:
        return self.message


class SeamMismatch(Exception):
    """Segments of a video do not fit together, because its frames cannot be found by number."""


def argument_error(message: str, code: str = "invalid_argument") -> pf.Error:
    """An error in an argument; the message begins with its name."""
    return pf.Error(message, code)


def needed(module: str, purpose: str, extra: str = "archives") -> Any:
    """Imports an optional package. The error for a missing one tells how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise argument_error(f"{purpose} needs the package {module.split('.')[0]} ({error}): "
                             f"pip install 'parafield[{extra}]'", "unsupported") from error


def is_disk_full(error: BaseException, folder: str) -> bool:
    """Whether a failed write is due to a full disk or quota."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return True
    if not isinstance(error, (OSError, pf.Error)):
        return False
    try:
        return shutil.disk_usage(folder).free < 1 << 20
    except OSError:
        return False


def describe(error: BaseException) -> str:
    """One line that describes an error of any kind."""
    if isinstance(error, Broken) or isinstance(error, pf.Error):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{os.fspath(error.filename)}: " if error.filename else ""
        return f"{where}{error.strerror}"
    return f"{type(error).__name__}: {error}"
