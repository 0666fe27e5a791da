# SPDX-License-Identifier: MIT
"""Shows Doxygen the fields that macros declare, with their descriptions as docstrings:

    PF_PARAMETER(int, window, 9, range(1, 31, "px"), "Side of the window.");
    /// Side of the window. range(1, 31, "px")
    int window = 9;

Constraints behind a function's parameters are left out, as Doxygen 1.9 does not understand them. Doxygen runs
this on each header: python3 described_fields.py HEADER. Lines keep their numbers.
"""

from __future__ import annotations

import re
import sys

MACRO = re.compile(r"^  (PF_PARAMETER|PF_PARAMETERS_OF|PF_FIELD)\(", re.MULTILINE)
CONSTRAINT = re.compile(r"\) requires Task::\w+;")


def arguments_of(text: str, begin: int) -> tuple[list[str], int]:
    """The arguments of a macro's call, from behind its parenthesis, and the place behind its end `);`."""
    arguments, depth, first, at = [], 0, begin, begin
    while True:
        if text[at] == '"':
            at = re.compile(r'"(?:\\.|[^"\\])*"').match(text, at).end()  # type: ignore[union-attr]
            continue
        if text[at] in "({":
            depth += 1
        elif text[at] in ")}" and depth:
            depth -= 1
        elif text[at] == "," and not depth:
            arguments.append(text[first:at])
            first = at + 1
        elif text[at] == ")":
            return [*arguments, text[first:at]], at + 2
        at += 1


def declaration(macro: str, arguments: list[str]) -> str:
    kind, name, *rest = (" ".join(argument.split()) for argument in arguments)
    if macro == "PF_PARAMETERS_OF":
        return f"{kind} {name}" + (f" = {{{', '.join(rest)}}};" if rest else ";")
    if macro == "PF_FIELD":
        return f"{kind} {name} = {', '.join(rest)};"
    value, *values, text = rest
    words = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).replace('\\"', '"')
    words = re.sub(r"([|<>@#&])", r"\\\1", words)
    allowed = f" Allowed: {', '.join(values)}." if values else ""
    return f"/** {words}{allowed} */ {kind} {name} = {value};"


def shown(text: str) -> str:
    at, parts = 0, []
    while macro := MACRO.search(text, at):
        arguments, end = arguments_of(text, macro.end())
        parts += [text[at : macro.start()], "  ", declaration(macro[1], arguments)]
        parts.append("\n" * text.count("\n", macro.start(), end))
        at = end
    return CONSTRAINT.sub(");", "".join(parts) + text[at:])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(shown(header.read()))
