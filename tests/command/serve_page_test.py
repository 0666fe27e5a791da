# SPDX-License-Identifier: MIT
"""The page of parafield serve, as a person uses it, in a headless Chromium.

python3 serve_page_test.py PARAFIELD
"""

import base64
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import browser


def expect(condition, said):
    if not condition:
        raise AssertionError(said)


def text(window, element):
    return window.run(f"return document.getElementById('{element}').textContent")


def drop(window, files):
    """Drops files on the page."""
    window.run(
        """const all = new DataTransfer();
        for (const [name, content] of arguments[0])
          all.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name));
        document.getElementById("drop").dispatchEvent(
          new DragEvent("drop", {dataTransfer: all, bubbles: true, cancelable: true}));""",
        [[Path(file).name, base64.b64encode(Path(file).read_bytes()).decode()] for file in files],
    )


def await_result(window):
    window.wait("job === null && result !== null && !document.getElementById('result').hidden")


def test_flow(window, run, folder):
    run("synth", "layers", "-o", folder / "scene", "--size", "160x120", "-q")
    frames = [folder / "scene/frame0000.png", folder / "scene/frame0001.png"]
    drop(window, frames)
    await_result(window)
    expect("160 x 120" in text(window, "facts"), text(window, "facts"))
    run("flow", *frames, "-o", folder / "flow.flo", "-d", "cpu", "-q")

    window.run("document.querySelector('#save button').click()")
    same = window.downloaded("flow.flo") == (folder / "flow.flo").read_bytes()
    expect(same, "the command writes another flow")
    expect("frame0000.png frame0001.png" in text(window, "line"), text(window, "line"))

    # Values by the keyboard, from the middle of the picture.
    window.run("document.getElementById('view').focus()")
    window.press("\ue014\ue015")  # right, down
    values = text(window, "values")
    expect(values.startswith("x 81, y 61: u ") and "valid; standard deviation " in values, values)
    for view in ("frames", "arrows", "valid", "colors"):
        window.run(f"document.querySelector('#views input[value={view}]').click()")
        expect(window.run("return view") == view, view)
    window.run("const split = document.getElementById('split'); split.value = 0.5; split.oninput()")

    window.run("const all = document.getElementById('preset'); all.value = 'fast'; all.onchange()")
    await_result(window)
    expect("adaptive-ridge, fast" in text(window, "facts"), text(window, "facts"))
    window.run("const all = document.getElementById('parameters-iterations'); all.value = 7; all.onchange()")
    await_result(window)
    expect("--preset fast --iterations 7" in text(window, "line"), text(window, "line"))


def test_examples(window):
    for task, fact in (("stereo", "Disparity"), ("detect", "Moving"), ("flow", "Motion, mean")):
        window.run(f"document.querySelector('#task input[value={task}]').click()")
        window.run("document.getElementById('example').click()")
        await_result(window)
        expect(fact in text(window, "facts"), text(window, "facts"))
    before = window.run("return first")
    window.run("document.getElementById('play').click()")
    window.wait(f"first > {before + 1}")
    window.run("document.getElementById('play').click()")
    window.wait("!playing && job === null")


def test_video(window, folder):
    """A video of 40 frames comes in two parts; a method of 7 frames takes those around the pair."""
    width, height = 64, 48
    with (folder / "film.y4m").open("wb") as film:
        film.write(f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode())
        for frame in range(40):
            rows = (bytes((7 * (x - frame) ^ 5 * y) & 255 for x in range(width)) for y in range(height))
            film.write(b"FRAME\n" + b"".join(rows))
    window.run("document.querySelector('#task input[value=flow]').click()")
    drop(window, [folder / "film.y4m"])
    await_result(window)
    places = [text(window, "place")]
    for button in ("later", "earlier"):
        window.run(f"document.getElementById('{button}').click()")
        window.wait(f"document.getElementById('place').textContent !== '{places[-1]}'")
        await_result(window)
        places.append(text(window, "place"))
    expect(places[0].startswith("frames 1 to 32") and places[2] == places[0], places)
    expect(" to 40" in places[1], places)
    expect(window.run("return document.getElementById('earlier').disabled"), "there is an earlier part")
    window.run("const all = document.getElementById('method'); all.value = 'ridge-regression'; all.onchange()")
    await_result(window)
    expect("ridge-regression" in text(window, "facts"), text(window, "facts"))


def test_cancel(window):
    window.run("const all = document.getElementById('method'); all.value = 'annealing'; all.onchange()")
    window.run("const all = document.getElementById('parameters-sweeps'); all.value = 10000; all.onchange()")
    window.wait("document.getElementById('doing').textContent === 'solving'")
    window.wait("!document.getElementById('busy').hidden")
    window.run("document.getElementById('cancel').click()")
    window.wait("document.getElementById('busy').hidden && job === null")
    window.run("const all = document.getElementById('method'); all.value = 'lucas-kanade'; all.onchange()")
    await_result(window)
    expect("lucas-kanade" in text(window, "facts"), text(window, "facts"))


def test_errors(window, folder):
    expect(window.console() == [], "the console has messages")
    (folder / "text.png").write_text("this is no picture")
    drop(window, [folder / "text.png"])
    window.wait("!document.getElementById('error').hidden")
    expect("text.png: neither a picture nor a video" in text(window, "error"), text(window, "error"))
    own = "status of 400"  # the browser's message of the refused file
    messages = [message for message in window.console() if own not in message]
    expect(messages == [], messages)


def main():
    parafield = sys.argv[1]
    if missing := browser.missing():
        print(f"skipped: {missing} not found (Debian: chromium, chromium-driver)")
        return 77
    if "PARAFIELD_COMMAND" in os.environ:
        print("skipped: takes minutes with sanitizers and runs nothing that other tests do not")
        return 77

    def run(*words):
        subprocess.run([parafield, *words], check=True, stdin=subprocess.DEVNULL)

    command = [parafield, "serve", "--port", "0", "-d", "cpu", "--threads", "1", "-q"]
    with tempfile.TemporaryDirectory(prefix="parafield-page-") as name:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            for width, dark in ((1280, False), (390, True)):
                with browser.Browser(width=width, dark=dark) as window:
                    window.open(address)
                    window.wait("typeof known !== 'undefined' && known")
                    if width > 1000:
                        test_flow(window, run, Path(name))
                        test_video(window, Path(name))
                        test_cancel(window)
                    test_examples(window)
                    wide = window.run("return document.documentElement.scrollWidth")
                    expect(wide <= width, f"the page is {wide} px wide in a window of {width} px")
                    test_errors(window, Path(name))
            server.send_signal(signal.SIGINT)
            expect(server.wait(10) == 130, f"the exit code is {server.returncode}")
        finally:
            server.kill()
            server.wait()
    print("the page works in Chromium")
    return 0


if __name__ == "__main__":
    sys.exit(main())
