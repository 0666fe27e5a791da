# SPDX-License-Identifier: MIT
"""Scatter plots of error over time, with the Pareto front of each device."""

import math

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox
from PIL import Image

STYLES = {"parafield": ("#1f5fa8", "o"), "OpenCV": ("#c8501e", "s")}
GPU_STYLE = ("#2b8a3e", "D")


def pareto(points):
    """Those that no other point beats in time and in error, by time."""
    front = []
    for point in sorted(points, key=lambda point: (point["time"], point["error"])):
        if not front or point["error"] < front[-1]["error"]:
            front.append(point)
    return front


def draw_panel(axes, points, panel):
    """`points`: dicts of name, library, device ("cpu" or a GPU's name), time and error."""
    for device in sorted({point["device"] for point in points}):
        front = pareto([point for point in points if point["device"] == device])
        color = "#666666" if device == "cpu" else GPU_STYLE[0]
        axes.step([point["time"] for point in front], [point["error"] for point in front], where="post", color=color,
                  linewidth=1, linestyle="--", zorder=1)
    for point in points:
        color, marker = STYLES[point["library"]] if point["device"] == "cpu" else GPU_STYLE
        axes.plot(point["time"], point["error"], marker, color=color, markersize=6, zorder=3,
                  markerfacecolor=color if point["device"] == "cpu" else "white")
    axes.set_xscale("log")
    axes.set_xlabel(panel["x"])
    axes.set_ylabel(panel["y"])
    axes.set_title(panel["title"], fontsize=10)
    errors = [point["error"] for point in points]
    if panel["log"]:
        axes.set_yscale("log")
        axes.set_ylim(min(errors) / 1.2, max(errors) * 1.25)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    else:
        margin = 0.12 * (max(errors) - min(errors) or 1)
        axes.set_ylim(min(errors) - margin, max(errors) + margin)
    times = [point["time"] for point in points]
    axes.set_xlim(min(times) / 3, max(times) * 4)
    for axis in axes.xaxis, axes.yaxis:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)


def label(axes, points):
    """Names beside the points, where they cover neither a point nor another name."""
    renderer = axes.figure.canvas.get_renderer()
    pixels = axes.figure.dpi / 72  # of a typographic point
    frame = axes.get_window_extent(renderer)
    spots = [axes.transData.transform((point["time"], point["error"])) for point in points]
    taken = [Bbox.from_bounds(x - 4 * pixels, y - 4 * pixels, 8 * pixels, 8 * pixels) for x, y in spots]
    around = [(side * dx, dy) for dx in (0, 7, 14, 22, 32, 44) for y in range(8, 120, 4) for dy in (y, -y)
              for side in (1, -1)]
    places = [(7, 0), (-7, 0), *sorted(around, key=lambda place: math.hypot(*place))]  # the nearest that is free
    for (x, y), point in sorted(zip(spots, points), key=lambda pair: -pair[1]["time"]):
        name = point["name"].removesuffix(" default")
        color = STYLES[point["library"]][0] if point["device"] == "cpu" else GPU_STYLE[0]
        text = axes.text(0, 0, name, fontsize=7)
        extent = text.get_window_extent(renderer)
        text.remove()

        def box_at(dx, dy):
            left = x + dx * pixels - (extent.width if dx < 0 else extent.width / 2 if dx == 0 else 0)
            return Bbox.from_bounds(left, y + dy * pixels - extent.height / 2, extent.width, extent.height).padded(1)

        def is_free(dx, dy):
            box = box_at(dx, dy)
            inside = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 and box.y1 < frame.y1
            return inside and not any(box.overlaps(other) for other in taken)

        dx, dy = next((place for place in places if is_free(*place)), places[0])
        taken.append(box_at(dx, dy))
        line = {"arrowstyle": "-", "color": color, "linewidth": 0.4, "shrinkA": 0, "shrinkB": 3}
        axes.annotate(name, (point["time"], point["error"]), (dx, dy), textcoords="offset points", va="center",
                      ha="left" if dx > 0 else "right" if dx < 0 else "center", fontsize=7, color=color, zorder=4,
                      path_effects=[withStroke(linewidth=2, foreground="white")],
                      arrowprops=line if abs(dx) > 12 or abs(dy) > 10 else None)


def draw(panels, title, path, dpi=100):
    """`panels`: dicts of title, x, y, log and points, one beside the other."""
    figure, all_axes = plt.subplots(1, len(panels), figsize=(1 + 6.2 * len(panels), 5.2), squeeze=False,
                                    layout="constrained", dpi=dpi)
    figure.suptitle(title, fontsize=11)
    devices = sorted({point["device"] for panel in panels for point in panel["points"]})
    libraries = sorted({point["library"] for panel in panels for point in panel["points"]}, reverse=True)
    marks = [plt.Line2D([], [], color=STYLES[name][0], marker=STYLES[name][1], linestyle="", label=f"{name}, CPU")
             for name in libraries]
    marks += [plt.Line2D([], [], color=GPU_STYLE[0], marker=GPU_STYLE[1], markerfacecolor="white", linestyle="",
                         label=f"parafield, {device}: time there, error here") for device in devices if device != "cpu"]
    marks.append(plt.Line2D([], [], color="#666666", linewidth=1, linestyle="--", label="Pareto front of a device"))
    figure.legend(handles=marks, loc="outside lower center", ncols=2 * len(panels), fontsize=8, frameon=False)
    for axes, panel in zip(all_axes[0], panels):
        draw_panel(axes, panel["points"], panel)
    figure.canvas.draw()  # places the panels
    figure.set_layout_engine("none")
    for axes, panel in zip(all_axes[0], panels):
        label(axes, panel["points"])
    figure.savefig(path)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)  # a third of the bytes
