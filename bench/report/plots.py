# SPDX-License-Identifier: MIT
"""Plots as SVG that takes its colors from the page: see style.css."""

import io
import math
import re

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

INK = "#010203"  # becomes the color of the page's text
COLORS = [f"#0101f{i}" for i in range(1, 9)]  # become --s1 to --s8
MARK = "#0101fa"
DASHES = ["-", "--", ":", "-."]

plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "parafield", "font.family": "sans-serif", "font.size": 10,
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": INK,
    "grid.alpha": 0.15, "figure.facecolor": "none", "axes.facecolor": "none", "legend.frameon": False,
    "lines.markersize": 5, "axes.titlesize": 10, "axes.titlelocation": "left"})
count = 0


def number(value):
    """A value as a number: 640x480 is its pixels, 2000 to 3000 the middle; None if it is none."""
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str) and (size := re.fullmatch(r"(\d+)x(\d+)", value)):
        return float(size[1]) * float(size[2])
    if isinstance(value, str) and (ends := re.fullmatch(r"([\d.]+) to ([\d.]+)", value)):
        return (float(ends[1]) + float(ends[2])) / 2
    return None


def plain(value, _=None):
    """A number for an axis: 0.01, 5, 20 000, 2M."""
    if value >= 1e6:
        return f"{value / 1e6:g}M"
    return f"{value:g}" if value < 1e4 else f"{value:,.0f}".replace(",", "\u2009")


def svg(figure, description):
    """The figure as text of an <svg>, in the page's colors, with ids of its own."""
    global count
    count += 1
    file = io.StringIO()
    figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    text = file.getvalue()
    text = text[text.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'\s(?:xmlns(?::xlink)?|version)="[^"]*"', "", text)
    text = text.replace("xlink:href", "href")
    text = re.sub(r'id="([^"]+)"', rf'id="p{count}-\1"', text)
    text = re.sub(r'url\(#([^)]+)\)', rf'url(#p{count}-\1)', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#p{count}-\1"', text)
    text = text.replace(INK, "currentColor").replace(MARK, "var(--mark)")
    for i, color in enumerate(COLORS):
        text = text.replace(color, f"var(--s{i + 1})")
    text = re.sub(r'="[^"]*"', lambda match: re.sub(r"(\d+\.\d{3})\d+", r"\1", match[0]), text)  # shorter paths
    return text.replace("<svg", f'<svg role="img" aria-label="{description}"', 1)


def axes_of(spec, height=3.2):
    figure, axes = plt.subplots(figsize=(5.4, height))
    for axis, letter in (axes.xaxis, "x"), (axes.yaxis, "y"):
        if letter in spec.get("log", ""):
            getattr(axes, f"set_{letter}scale")("log")
            axis.set_major_formatter(FuncFormatter(plain))
            axis.set_minor_formatter(NullFormatter())
            axis.get_minor_locator().set_params(numticks=20)
    return figure, axes


def series_of(spec, table):
    """Series of a table as (name, points): for each column of `y` and each value of the column `by`."""
    where, by, x = spec.get("where", {}), spec.get("by"), table.column(spec["x"])
    series = {}
    for row in table.own_rows():
        if not table.matches(row, where):
            continue
        for y in spec["y"]:
            if y not in table.columns:
                continue
            group = str(row[table.column(by)]) if by else ""
            if group and group not in spec.get("only", [group]):
                continue
            at, value = number(row[x]), number(row[table.column(y)])
            if at is None or value is None or ("y" in spec.get("log", "") and value <= 0):
                continue
            column = spec.get("names", {}).get(y, y.removesuffix(": ms"))
            label = column if not by else group if len(spec["y"]) == 1 else f"{group}, {column}"
            series.setdefault(label, []).append((at, value))
    return list(series.items())


def name_ticks(axes, spec, tables):
    """Names the places of a logarithmic axis as the tables do, where they are not too close; tells whether the names
    are long."""
    names = {number(row[table.column(spec["x"])]): row[table.column(spec["x"])] for table in tables
             for row in table.own_rows() if table.matches(row, spec.get("where", {}))}
    ticks = []
    for at in sorted(names):
        if not ticks or at > 1.3 * ticks[-1]:
            ticks.append(at)
    long = any(len(str(names[at])) > 5 for at in ticks)
    axes.set_xticks(ticks, [str(names[at]) for at in ticks], rotation=25 if long else 0,
                    ha="right" if long else "center")
    axes.tick_params(axis="x", which="minor", bottom=False)
    return long


def lines(spec, tables):
    """Lines over an axis. `tables`: (device, table) pairs; more than one device: a dash for each."""
    figure, axes = axes_of(spec)
    names = []
    for dash, (device, table) in enumerate(tables):
        for name, points in series_of(spec, table):
            is_new = name not in names
            names += [name] * is_new
            axes.plot(*np.array(sorted(points)).T, marker="o", linestyle=DASHES[dash % 4],
                      color=COLORS[names.index(name) % len(COLORS)], label=name if is_new else None)
        if len(tables) > 1:
            axes.plot([], [], color=INK, linestyle=DASHES[dash % 4], label=device)  # for the legend
    long = "x" in spec.get("log", "") and name_ticks(axes, spec, [table for _, table in tables])
    if mark := spec.get("mark"):
        axis = spec.get("mark_axis", "x")
        (axes.axvspan if axis == "x" else axes.axhspan)(
            mark[0], mark[1] if mark[1] > mark[0] else mark[0] * 1.005, color=MARK, alpha=0.25, linewidth=0,
            label=spec["mark_text"])
    axes.set_xlabel(spec.get("xlabel", spec["x"]))
    axes.set_ylabel(spec["ylabel"])
    if "y" not in spec.get("log", ""):
        axes.set_ylim(0, 1.08 * max(max(line.get_ydata()) for line in axes.lines if len(line.get_ydata())))
    if "x" not in spec.get("log", ""):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(0, -0.32 if long else -0.17), ncols=1 if len(names) < 3 else 2,
                borderaxespad=0)
    return svg(figure, spec["title"])


def bars(spec, groups):
    """Horizontal bars. `groups`: (name, [(series, value or None)]); a series is published, cpu or gpu text."""
    log = "log" in spec
    groups = [(name, [(series, value) for series, value in values if value is not None and (value > 0 or not log)])
              for name, values in groups]
    groups = [group for group in groups if group[1]]
    if not groups:
        return ""
    everything = [value for _, values in groups for _, value in values]
    figure, axes = axes_of({"log": "x"} if log else {}, 0.7 + 0.26 * len(everything) + 0.2 * len(groups))
    if log:
        axes.set_xlim(min(everything) / 3, max(everything) * 6)
    else:
        axes.set_xlim(0, max(everything) * 1.2)
    colors, at, ticks = {"published": MARK}, 0.0, []
    for group, values in groups:
        begin = at
        for series, value in values:
            color = colors.setdefault(series, COLORS[(len(colors) - 1) % len(COLORS)])
            axes.barh(at, value, height=0.8, color=color)
            axes.annotate(short(value), (value, at), xytext=(4, 0), textcoords="offset points", va="center",
                          fontsize=8.5)
            at += 1
        ticks.append(((begin + at - 1) / 2, group))
        at += 0.7
    drawn = {series for _, values in groups for series, _ in values}
    for series in [series for series in colors if series in drawn]:
        axes.barh(0, 0, color=colors[series], label=series)  # for the legend
    axes.set_yticks([tick for tick, _ in ticks], [wrapped(name) for _, name in ticks])
    axes.set_ylim(at - 0.8, -0.8)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(spec["ylabel"])
    axes.legend(fontsize=8.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.3)
    return svg(figure, spec["title"])


def wrapped(text, width=26):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "\n".join([*lines, line])


def short(value):
    """A number with three digits that count: 0.0290, 67, 146 000."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if value == int(value):
        return f"{int(value):,}".replace(",", "\u2009")
    digits = max(0, min(6, 2 - math.floor(math.log10(abs(value)))))
    text = f"{value:,.{digits}f}".replace(",", "\u2009")
    return text if digits == 0 or abs(value) < 100 else text.rstrip("0").rstrip(".")
