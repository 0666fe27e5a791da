# SPDX-License-Identifier: MIT
"""Draws the page of parafield serve with the rendered example of flow.

python3 draw_page.py PARAFIELD FILE.jpg
"""

import base64
import subprocess
import sys
from pathlib import Path

import browser


def main():
    parafield, file = sys.argv[1:]
    if missing := browser.missing():
        print(f"{file} is not drawn: {missing} not found (Debian: chromium, chromium-driver)")
        return
    command = [parafield, "serve", "--port", "0", "-d", "cpu", "-q"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        with browser.Browser(width=1180, height=1010) as window:
            window.open(server.stdout.readline().strip())
            window.wait("typeof known !== 'undefined' && known")
            window.run("document.getElementById('example').click()")
            window.wait("job === null && result !== null")
            window.run("document.getElementById('split').value = 0.3; point = {x: 330, y: 250}; paint()")
            window.chrome("Emulation.setScrollbarsHidden", {"hidden": True})
            shot = window.chrome("Page.captureScreenshot", {"format": "jpeg", "quality": 78})
            Path(file).write_bytes(base64.b64decode(shot["data"]))
    finally:
        server.kill()
        server.wait()


main()
