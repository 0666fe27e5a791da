#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes one HTML file of the studies' results.

  report.py --from FOLDER -o report.html    FOLDER has *-study-*.json, and pictures in pictures/. What it lacks
                                            comes from a second --from: a kind of device, or all pictures.
  report.py --shrink FOLDER                 makes WebP of the PNGs in FOLDER and deletes these
"""

import argparse
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PAPERS = ["kim", "marzat", "bodily", "jodoin", "grauer_gray"]


def shrink(folder):
    """Makes WebP of pictures, at most 400 px wide: without loss where there are few colors, as in label fields."""
    from PIL import Image
    for file in sorted(Path(folder).rglob("*.png")):
        image = Image.open(file).convert("RGB")
        few = image.getcolors(256) is not None
        if image.width > 400:
            image = image.resize((400, round(image.height * 400 / image.width)), Image.Resampling.LANCZOS)
        image.save(file.with_suffix(".webp"), lossless=few, quality=80 if few else 75, method=4)
        file.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folders", type=Path, action="append", metavar="FOLDER",
                        help="folder of results; default: bench/results")
    parser.add_argument("-o", "--output", type=Path, default=Path("report.html"))
    parser.add_argument("--shrink", type=Path, help="only make WebP of the PNGs in this folder")
    arguments = parser.parse_args()
    try:
        if arguments.shrink:
            return shrink(arguments.shrink)
        import page
        import results
        folders = arguments.folders or [HERE.parent / "results"]
        studies = results.read_all(folders)
        if not studies:
            sys.exit(f"--from: {folders[0]} has no file *-study-*.json")
        papers = []
        for name in PAPERS:
            text = tomllib.loads((HERE / "papers" / f"{name}.toml").read_text())
            papers.append(page.Paper(text, studies.get(text["study"])))
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(page.document(papers))
    except ImportError as error:
        sys.exit(f"The report needs matplotlib (Debian: python3-matplotlib): {error}")


if __name__ == "__main__":
    main()
