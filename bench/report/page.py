# SPDX-License-Identifier: MIT
"""The report as HTML: what papers/*.toml says, with the studies' tables, plots and pictures."""

import base64
import html
import re
from pathlib import Path

import plots
import results

SERIES = {"published": "published", "cpu": "here, CPU", "gpu": "here, GPU"}


def prose(text):
    """Text with `code` as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def picture(file):
    kind = "webp" if file.suffix == ".webp" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


class Paper:
    """A paper: `text` is its TOML, `study` what was measured (None: nothing)."""

    def __init__(self, text, study):
        self.text, self.study = text, study
        self.runs = study.runs if study else {}

    def cell(self, kind, place):
        """The value at [title, where, column] of the run on a kind of device; a literal stands for itself."""
        if not isinstance(place, list):
            return place
        title, where, column = place
        kinds = ["gpu", "cpu"] if kind == "any" else [kind]
        for run in (self.runs[k] for k in kinds if k in self.runs):
            if (value := run.value(title, where, column)) not in (None, ""):
                return value
        return None

    def filled(self, text, values):
        """Text whose {cpu.NAME}, {gpu.NAME} and {any.NAME} become the item's values."""
        def value(match):
            found = self.cell(match[1], values[match[2]])
            return "not measured" if found is None else plots.short(found)
        return prose(re.sub(r"\{(cpu|gpu|any)\.(\w+)\}", value, text))

    def name_of(self, kind):
        return f"here, {self.runs[kind].device}" if kind in self.runs else SERIES[kind]

    def beside(self, rows):
        """Values of each row: published, on the CPU, on the GPU."""
        result = []
        for row in rows:
            published = self.cell("any", row.get("published"))
            cpu = self.cell("cpu", row.get("cpu", row.get("both")))
            gpu = self.cell("gpu", row.get("gpu", row.get("both")))
            result.append((row, {"published": published, "cpu": cpu, "gpu": gpu}))
        return result

    def beside_table(self, item):
        rows = self.beside(item["beside"])
        kinds = [kind for kind in ("cpu", "gpu") if kind in self.runs]
        head = "".join(f"<th class=n>{html.escape(self.name_of(kind))}</th>" for kind in kinds)
        body = ""
        for row, values in rows:
            body += f"<tr><th scope=row>{prose(row['what'])}</th>{published_cell(row, values)}"
            for kind in kinds:
                body += f"<td class=n>{html.escape(plots.short(values[kind]))}</td>"
            body += "</tr>\n"
        return (f"<div class=scroll><table class=beside><thead><tr><th></th><th class=n>published</th>{head}"
                f"</tr></thead><tbody>{body}</tbody></table></div>")

    def charts(self, item):
        """Plots of an item: (title, svg) pairs."""
        for spec in item.get("plots", []):
            found = [(run.device, run.table(spec.get("table", ""))) for run in self.runs.values()]
            found = [(device, table) for device, table in found if table]
            if len(found) > 1 and all(table.rows == found[0][1].rows for _, table in found):
                found = [("", found[0][1])]  # one for all devices
            if spec["kind"] == "beside":
                yield spec["title"], plots.bars(spec, self.beside_groups(item, spec))
            elif spec["kind"] == "bars":
                yield spec["title"], plots.bars(spec, table_groups(spec, found))
            elif spec.get("together") or len(found) < 2:
                yield spec["title"], plots.lines(spec, found) if found else ""
            else:
                for device, table in found:
                    title = f"{spec['title']}, {device}"
                    yield title, plots.lines(spec | {"title": title}, [(device, table)])

    def beside_groups(self, item, spec):
        """Bars of those rows beside each other that the plot is for."""
        names = {"published": "published"} | {kind: self.name_of(kind) for kind in ("cpu", "gpu")}
        return [(row["what"], [(names[kind], plots.number(value)) for kind, value in values.items()])
                for row, values in self.beside(item["beside"]) if row.get("chart", "") == spec.get("rows", "")]

    def plots_of(self, item):
        drawn = "".join(f"<figure><figcaption>{prose(title)}</figcaption>{svg}</figure>\n"
                        for title, svg in self.charts(item) if svg)
        return f"<div class=plots>{drawn}</div>" if drawn else ""

    def pictures(self, item):
        """The pictures of the item's figures, a block for each scene: what stands before ": " in their captions."""
        scenes = {}
        for entry in self.study.pictures if self.study else []:
            if entry["figure"] in item.get("pictures", []):
                scene, _, caption = entry["caption"].rpartition(": ")
                scenes.setdefault((scene, "real" in entry["file"].parts), []).append((entry, caption))
        text = ""
        for (scene, _), entries in sorted(scenes.items(), key=lambda scene: scene[0][1]):
            text += f"<h4>{prose(scene)}</h4>" if scene else ""
            text += "<div class=pictures>"
            for entry, caption in entries:
                alt = html.escape(f"{scene}: {caption}")
                text += (f"<figure><img loading=lazy alt=\"{alt}\" src=\"{picture(entry['file'])}\">"
                         f"<figcaption>{prose(entry['figure'])}: {prose(caption)}</figcaption></figure>\n")
            text += "</div>\n"
        return text

    def tables(self, item):
        text = ""
        for title in item.get("tables", []):
            both = results.merged(self.runs.values(), title)
            apart = [] if both else [(run.device, t) for run in self.runs.values() if (t := run.table(title))]
            having = [run for run in self.runs.values() if run.table(title)]
            same = "the same on every device" if len(having) > 1 else having[0].device if having else ""
            for device, table in [("" if both and "device" in both.columns else same, both)] if both else apart:
                text += full_table(table, device)
        return text

    def item(self, item):
        names = ";".join(f"{self.text['name']} {name}" for name in item["covers"])
        text = f"<section class=item data-covers=\"{html.escape(names)}\"><h3>{prose(item['title'])}</h3>\n"
        for part in item["says"].strip().split("\n\n"):
            text += f"<p>{self.filled(part, item.get('values', {}))}</p>\n"
        if "beside" in item:
            text += self.beside_table(item)
        return text + self.plots_of(item) + self.pictures(item) + self.tables(item) + "</section>\n"

    def page(self):
        conditions = ""
        for run in self.runs.values():
            for entry in {str(c): c for c in run.conditions}.values():
                conditions += f"<li>{html.escape('; '.join(f'{name}: {value}' for name, value in entry.items()))}</li>"
        text = f"<section class=paper id={self.text['name'].lower()}><h2>{prose(self.text['name'])}</h2>"
        text += f"<p class=paper-title>{prose(self.text['paper'])}</p><p>{prose(self.text['about'])}</p>"
        text += f"<details><summary>Conditions of the runs</summary><ul>{conditions}</ul></details>\n"
        return text + "".join(self.item(item) for item in self.text["item"]) + "</section>\n"


def published_cell(row, values):
    """A published value, and below it where it stands."""
    where = f"<small>{prose(row['where'])}</small>" if row.get("where") else ""
    return f'<td class="n p">{html.escape(plots.short(values["published"]))}{where}</td>'


def table_groups(spec, tables):
    """Bars of tables: a group for each row, in it one bar for each value and device."""
    groups = {}
    for device, table in tables:
        for row in table.own_rows():
            name = ", ".join(str(row[table.column(label)]) for label in spec["label"])
            if not table.matches(row, spec.get("where", {})) or name not in spec.get("names", [name]):
                continue
            for column in spec["value"]:
                series = [f"here, {device}"] if device and len(spec["value"]) == 1 else [column]
                if len(tables) > 1 and len(spec["value"]) > 1:
                    series = [device, column]
                groups.setdefault(name, []).append((", ".join(series), plots.number(row[table.column(column)])))
    return list(groups.items())


def full_table(table, about):
    """A study's table, to be opened."""
    numeric = [all(isinstance(row[i], (int, float)) or row[i] in (None, "") for row in table.rows)
               for i in range(len(table.columns))]
    head = "".join(f"<th{' class=n' if n else ''}>{prose(c)}</th>" for c, n in zip(table.columns, numeric))
    body = ""
    for index, row in enumerate(table.rows):
        cells = ""
        for column, value, n in zip(table.columns, row, numeric):
            shades = ["n"] * n + ["p"] * (index < table.published_rows or column in table.published_columns)
            shown = plots.short(value) if isinstance(value, float) else "" if value is None else str(value)
            cells += f"<td class=\"{' '.join(shades)}\">{prose(shown)}</td>" if shades else f"<td>{prose(shown)}</td>"
        body += f"<tr>{cells}</tr>\n"
    title = prose(table.title) + (f" ({html.escape(about)})" if about else "")
    return (f"<details><summary>Table: {title}</summary><p>{prose(table.note)}</p><div class=scroll><table>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>\n")


def overview(papers):
    """A row for each system: published, CPU, GPU."""
    body = ""
    for paper in papers:
        for row, values in paper.beside(paper.text["system"]):
            factor = ""
            old, new = plots.number(values["published"]), plots.number(values["gpu"])
            if old and new and row["unit"] in ("ms", "fps"):
                factor = plots.short(old / new if row["unit"] == "ms" else new / old)
            body += (f"<tr><th scope=row><a href=\"#{paper.text['name'].lower()}\">{paper.text['name']}</a>: "
                     f"{prose(row['what'])}, {row['unit']}</th>{published_cell(row, values)}"
                     f"<td class=n>{html.escape(plots.short(values['cpu']))}</td>"
                     f"<td class=n>{html.escape(plots.short(values['gpu']))}</td><td class=n>{factor}</td></tr>\n")
    return ("<div class=scroll><table class=beside><thead><tr><th>system</th><th class=n>published</th>"
            "<th class=n>here, CPU</th><th class=n>here, GPU</th><th class=n>factor</th></tr></thead>"
            f"<tbody>{body}</tbody></table></div>")


def missing(papers):
    rows = "".join(f"<tr><td>{paper.text['name']}</td><th scope=row>{prose(row['what'])}</th>"
                   f"<td>{prose(row['why'])}</td></tr>\n" for paper in papers for row in paper.text.get("missing", []))
    return ("<div class=scroll><table><thead><tr><th>paper</th><th>what</th><th>why</th></tr></thead>"
            f"<tbody>{rows}</tbody></table></div>")


def document(papers):
    links = " ".join(f"<a href=#{p.text['name'].lower()}>{p.text['name']}</a>" for p in papers)
    devices = {kind: sorted({p.runs[kind].device for p in papers if kind in p.runs}) for kind in ("cpu", "gpu")}
    named = "; ".join(f"{kind.upper()}: {', '.join(names)}" for kind, names in devices.items() if names)
    style = (Path(__file__).parent / "style.css").read_text()
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>Five papers, repeated with parafield</title>
<style>{style}</style></head><body>
<header><h1>Five papers, repeated with parafield</h1>
<p>Each table and figure of five papers on dense motion and depth on GPUs, beside what this library does today.
Published figures have a tinted background. {html.escape(named)}.</p>
<nav><a href=#overview>Overview</a> {links} <a href=#missing>Not reproduced</a></nav></header>
<main><section id=overview><h2>Overview: every system</h2>
<p>Medians with the frames and the result in the device's memory, unless a row says otherwise; each paper's part has the
conditions. The factor is that of the GPU over the published figure; methods and parameters are the papers', not the
library's best.</p>
{overview(papers)}</section>
{"".join(paper.page() for paper in papers)}
<section id=missing><h2>Not reproduced</h2>{missing(papers)}</section></main></body></html>
"""
