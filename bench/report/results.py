# SPDX-License-Identifier: MIT
"""Results of the studies: JSON files that a study's --json wrote, and values in their tables."""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Table:
    title: str
    note: str
    columns: list
    rows: list
    published_rows: int = 0  # the first ones hold the paper's own figures
    published_columns: list = field(default_factory=list)

    def own_rows(self):
        return self.rows[self.published_rows:]

    def column(self, name):
        if name not in self.columns:
            raise KeyError(f"table '{self.title}' has no column '{name}'; it has {self.columns}")
        return self.columns.index(name)

    def matches(self, row, where):
        """Tells whether a row has the values of `where`: column name to value."""
        return all(row[self.column(name)] == value for name, value in where.items())

    def value(self, where, name):
        """The value of a column (-1: the last) in the first row with the values of `where`, own rows first; None
        if there is none."""
        if name != -1 and name not in self.columns:
            return None
        for row in self.own_rows() + self.rows[:self.published_rows]:
            if self.matches(row, where):
                return row[-1 if name == -1 else self.column(name)]
        return None


@dataclass
class Run:
    """Runs of one study on one device."""
    kind: str  # cpu or gpu
    device: str  # for example "H100 80GB HBM3"
    conditions: list  # one dict for each file
    tables: list

    def table(self, title):
        """The first table whose title begins with `title`; None if there is none."""
        return next((table for table in self.tables if table.title.startswith(title)), None)

    def value(self, title, where, column):
        table = self.table(title)
        return table.value(where, column) if table else None


@dataclass
class Study:
    title: str
    runs: dict = field(default_factory=dict)  # kind to Run
    pictures: list = field(default_factory=list)  # dicts: figure, caption, file (a Path)


def device_name(device):
    """Short name of a device, for example "H100" or "AMD EPYC, 2 threads"."""
    if device["device"] == "cpu":
        return f"{device['device_name']}, {device['threads']} thread{'s' * (device['threads'] > 1)}"
    return device["device_name"].removeprefix("NVIDIA ").split(" ")[0]


def picture_file(folder, name):
    """The picture of a study in folder/pictures, as WebP if it is there; None if it is missing."""
    for file in (folder / "pictures" / name).with_suffix(".webp"), folder / "pictures" / name:
        if file.exists():
            return file
    return None


def read(folder):
    """Reads every study in a folder of results: a dict from title to Study."""
    studies = {}
    for path in sorted(Path(folder).glob("*-study-*.json")):
        data = json.loads(path.read_text())
        study = studies.setdefault(data["title"], Study(data["title"]))
        device = data["devices"][0]
        kind = "cpu" if device["device"] == "cpu" else "gpu"
        run = study.runs.setdefault(kind, Run(kind, device_name(device), [], []))
        conditions = {name: value for name, value in data.items() if isinstance(value, str) and name != "title"}
        run.conditions.append({"device": ", ".join(map(str, device.values()))} | conditions)
        run.tables += [Table(**table) for table in data["tables"]]
        known = {picture["file"].name for picture in study.pictures}
        for picture in data["pictures"]:
            file = picture_file(Path(folder), picture["file"])
            if file and file.name not in known:
                study.pictures.append(picture | {"file": file})
    return studies


def read_all(folders):
    """Reads several folders; later ones add what a study lacks: a kind of device, or all pictures."""
    studies = {}
    for folder in folders:
        for title, study in read(folder).items():
            known = studies.setdefault(title, study)
            for kind, run in study.runs.items():
                known.runs.setdefault(kind, run)
            known.runs = dict(sorted(known.runs.items()))  # the CPU first
            known.pictures = known.pictures or study.pictures
    return studies


def merged(runs, title):
    """The table of a title from several runs: own rows that differ get a column that names the device."""
    found = [(run, table) for run in runs if (table := run.table(title))]
    if not found:
        return None
    first = found[0][1]
    if all(table.rows == first.rows for _, table in found):
        return first
    if any(table.columns != first.columns for _, table in found):
        return None
    rows = [["", *row] for row in first.rows[:first.published_rows]]
    for run, table in found:
        rows += [[run.device, *row] for row in table.own_rows()]
    return Table(first.title, first.note, ["device", *first.columns], rows, first.published_rows,
                 first.published_columns)
