#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the report of bench/results and checks that it is whole: run by ctest as Bench.Report.

Every table and figure of the papers is in it, every system has a figure of a CPU and of a GPU, nothing is loaded from
elsewhere, and the HTML's tags match. Exit status 77, which is a skip, without matplotlib.
"""

import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).parent
COVERED = {
    "Kim": ["Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 9", "section 6.1"],
    "Marzat": ["Fig. 3", "Fig. 4", "Fig. 5", "Fig. 6", "Fig. 7", "Fig. 9", "table 1"],
    "Bodily": ["table 2.1", "table 3.1", "table 5.1", "table 5.2", "section 4.2.2", "Fig. 5.1", "Fig. 5.2"],
    "Jodoin": ["Fig. 1", "Fig. 2"],
    "Grauer-Gray": ["Fig. 1", "Fig. 2", "section 5", "section 6", "clouds"]}
MISSING = ["Fig. 8", "FPGA", "hurricane Luis"]
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Page(HTMLParser):
    """Collects what is to be checked, and what is wrong."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.ids, self.count = [], [], set(), {"img": 0, "svg": 0}
        self.covers, self.rows, self.section = set(), [], ""

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "section":
            self.section = values.get("id", self.section)
        elif tag == "tr":
            self.rows.append((self.section, []))
        elif tag in ("td", "th") and self.rows:
            self.rows[-1][1].append("")
        elif tag in self.count:
            self.count[tag] += 1
        self.covers |= set(values.get("data-covers", "").split(";"))
        if "id" in values:
            self.wrong += [f"id {values['id']} is there twice"] * (values["id"] in self.ids)
            self.ids.add(values["id"])
        self.wrong += [f"<{tag}> loads {values[name][:80]}" for name in ("src", "href")
                       if not values.get(name, "#").startswith(("#", "data:"))]

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes nothing, line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th", "a") and self.rows and self.rows[-1][1]:
            self.rows[-1][1][-1] += data


def main():
    try:
        import tomllib  # noqa: F401

        import matplotlib  # noqa: F401
    except ImportError as error:
        print(f"Skipped: {error}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        subprocess.run([sys.executable, HERE / "report.py", "--from", HERE.parent / "results", "-o", file], check=True)
        text = file.read_text()
    page = Page()
    page.feed(text)
    page.close()
    wrong = page.wrong + [f"<{tag}> is not closed" for tag in page.open]
    wrong += [f"not covered: {paper} {name}" for paper, names in COVERED.items() for name in names
              if f"{paper} {name}" not in page.covers]
    reasons = [cells for section, cells in page.rows if section == "missing"]
    wrong += [f"no reason for what is missing: {name}" for name in MISSING
              if not any(name in cells[1] and cells[2] for cells in reasons)]
    systems = [cells for section, cells in page.rows if section == "overview"][1:]
    wrong += [f"no figure of a CPU and of a GPU: {cells[0]}" for cells in systems if not (cells[2] and cells[3])]
    wrong += ["a sentence lacks its figure"] * ("not measured" in text)
    wrong += [f"'{loaded}' is in the page" for loaded in ("url(http", "@import", "<script") if loaded in text]
    images, plots = page.count.values()
    if len(systems) < 15 or images < 40 or plots < 20:
        wrong.append(f"{len(systems)} systems, {images} pictures, {plots} plots: some are missing")
    print(f"{len(systems)} systems, {images} pictures, {plots} plots, {len(text) / 1e6:.1f} MB")
    print("\n".join(wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
