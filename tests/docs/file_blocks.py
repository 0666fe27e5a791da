# SPDX-License-Identifier: MIT
"""Blocks of pages that show a file, behind <!-- file: PATH -->: their lines are in the file, one after the other.

file_blocks.py PAGES...
"""

import re
import sys
import textwrap
from pathlib import Path

count = 0
for page in sys.argv[1:]:
    text = Path(page).read_text(encoding="utf-8")
    for found in re.finditer(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        count += 1
        path, block = found.groups()
        size = block.count("\n")
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
        if not any(textwrap.dedent("".join(lines[i : i + size])) == block for i in range(len(lines))):
            sys.exit(f"{page}: {path} does not contain the block that begins with {block.splitlines()[0]!r}")
if count == 0:
    sys.exit("no blocks were found")
print(f"{count} blocks are in their files")
