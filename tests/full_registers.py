# SPDX-License-Identifier: MIT
"""Checks that hot loops use full NEON registers (16 bytes) in the machine code:
    full_registers.py OBJDUMP OBJECT...
A loop that is not vectorized, or for half registers only, has no instruction for full ones. So each function
below must have about as many as its loops need."""

import re
import subprocess
import sys

# Part of an object's path, part of a function's name, least number of its instructions for full registers.
hot = [
    ("steps/least_squares/", "sum_row<", 100),
    ("steps/least_squares/", "solve_row<", 150),
    ("adaptive_ridge/tensors/", "warp_pixels(", 150),
    ("adaptive_ridge/tensors/", "product_row<", 40),
    ("steps/median/", "sort_along(", 40),
    ("steps/median/", "merge_rows(", 60),
    ("steps/median/", "median_rows_5(", 120),
    ("steps/census/", "census", 60),
    ("markov/messages/", "send_lines<", 24),
    ("markov/messages/", "send_row<float>", 500),
    ("markov/messages/", "find_least<", 50),
    ("steps/variational/relax_cpu", "relax_band(", 100),
    ("steps/consistency/", "check_disparities<", 80),
    ("steps/error_bars/flow_cpu", "local_error_bars<", 3000),
    ("steps/error_bars/flow_cpu", "widen_error_bars", 200),
    ("steps/error_bars/disparity_cpu", "disparity_error_bars<", 550),
    ("markov/slopes/", "fit_slopes<", 350),
    ("markov/background/learn_cpu", "learn_background<", 1200),
    ("markov/background/learn_cpu", "renew_segment<32>", 75),
    ("markov/background/compare_cpu", "compare_background<", 700),
    ("markov/background/decide_cpu", "decide_background<", 500),
    ("markov/background/decide_cpu", "background_mask<", 130),
]


def counts_of(objdump, path):
    """Number of instructions for full registers in each function."""
    command = [objdump, "-d", "-C", "--no-show-raw-insn", path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts, here = {}, ""
    for line in text.splitlines():
        if name := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            here = name[1]
        elif re.search(r"\bv\d+\.(4s|8h|16b|2d)\b", line):
            counts[here] = counts.get(here, 0) + 1
    return counts


def main():
    objdump, objects = sys.argv[1], sys.argv[2:]
    failed = False
    for part, function, least in hot:
        paths = [path for path in objects if part in path] or objects  # all if files are compiled together
        most = max((count for path in paths for name, count in counts_of(objdump, path).items()
                    if function in name), default=0)
        failed |= most < least
        print(f"{part} {function} has {most} instructions for full registers, expected at least {least}"
              + (": FAILED" if most < least else ""))
    sys.exit(1 if failed else 0)


main()
