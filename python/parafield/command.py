# SPDX-License-Identifier: MIT
"""The command parafield: the compiled program that the package holds takes the place of Python."""

import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    """Run the compiled command with the arguments of this process.

    It is the same process, with its standard input, signals and exit status.
    """
    folder = Path(__file__).parent / "bin"
    program = folder / "parafield"
    if not program.exists():
        reason = (folder / "absent.txt").read_text().strip()
        sys.exit(
            "parafield: this installation has no command, because of what was missing when it was built: "
            f"{reason}. Install what is missing, then parafield again. The Python module works without it."
        )
    # Python ignores these signals, and the command would, too: `parafield ... | head` has to end.
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(program, ["parafield", *sys.argv[1:]])
