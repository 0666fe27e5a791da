# SPDX-License-Identifier: MIT
"""Values of options that several commands have."""

import argparse


def range_of(text: str) -> tuple[float, float]:
    """Black and white of `--range LOW,HIGH`."""
    try:
        black, white = map(float, text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text} is not LOW,HIGH, such as 0,4095") from None
    return black, white
