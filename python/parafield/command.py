# SPDX-License-Identifier: MIT
"""The command parafield: replaces the Python process by the compiled program in the package."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Runs the compiled command with the arguments of this process.

    The process stays the same, with its standard input, signals and exit status.
    """
    folder = Path(__file__).parent / "bin"
    program = folder / "parafield"
    if not program.exists():
        reason = (folder / "absent.txt").read_text().strip()
        sys.exit(
            "parafield: this installation has no command, because something was missing when it was built: "
            f"{reason}. Install it, then reinstall parafield. The Python module works without the command."
        )
    # Python ignores these signals, and the command would inherit that: `parafield ... | head` would not end.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(program, ["parafield", *sys.argv[1:]])
