# SPDX-License-Identifier: MIT
"""A headless Chromium, driven by chromedriver over the WebDriver protocol."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # W3C's name of an element's id


def missing():
    """The programs that are missing, as text; empty if none is."""
    return " and ".join(name for name in ("chromium", "chromedriver") if not shutil.which(name))


class Browser:
    """A window. Its downloads go into `downloads`."""

    def __init__(self, width=1280, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="parafield-browser-", ignore_cleanup_errors=True)
        self.downloads = Path(self.folder.name, "downloads")
        self.downloads.mkdir()
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.session = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.address = f"http://127.0.0.1:{line.split()[-1].strip('.')}"
                break
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--force-device-scale-factor=1", f"--user-data-dir={self.folder.name}/profile",
        ]  # fmt: skip
        if dark:
            arguments.append("--force-dark-mode")
        options = {
            "args": arguments,
            "binary": shutil.which("chromium"),
            "prefs": {"download.default_directory": str(self.downloads)},
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = answer["sessionId"]
        # The viewport itself: a window has a least width.
        self.chrome(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self.chrome(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]},
        )

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.session:
            self.ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()
        self.folder.cleanup()

    def ask(self, method, path, body=None):
        if self.session:
            path = f"/session/{self.session}{path}"
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def chrome(self, command, parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    def run(self, script, *values):
        """What the script returns, in the page."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(values)})

    def wait(self, condition, seconds=30):
        """Waits until the expression is true in the page, and returns its value."""
        end = time.monotonic() + seconds
        while not (value := self.run(f"return {condition}")):
            if time.monotonic() > end:
                raise AssertionError(f"after {seconds} s this is not so: {condition}")
            time.sleep(0.05)
        return value

    def choose_files(self, selector, files):
        """Gives files to an <input type=file>, as a user does."""
        found = self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]
        self.ask("POST", f"/element/{found}/value", {"text": "\n".join(str(file) for file in files)})

    def press(self, keys):
        """Sends keys to the element that has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def console(self):
        """What the console got since the last call."""
        return [entry["message"] for entry in self.ask("POST", "/se/log", {"type": "browser"})]

    def downloaded(self, name, seconds=10):
        """The content of a file that the page has saved."""
        end = time.monotonic() + seconds
        while not (self.downloads / name).exists():
            if time.monotonic() > end:
                there = sorted(path.name for path in self.downloads.iterdir())
                raise AssertionError(f"{name} was not saved; there are {there}")
            time.sleep(0.05)
        return (self.downloads / name).read_bytes()

    def screenshot(self, file):
        """A picture of the whole page."""
        shot = self.chrome("Page.captureScreenshot", {"captureBeyondViewport": True})
        Path(file).write_bytes(base64.b64decode(shot["data"]))
