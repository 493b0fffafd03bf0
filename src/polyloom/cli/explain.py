# SPDX-License-Identifier: Apache-2.0
"""`polyloom explain`: what a diagnostic code means, how to mend it, and where the site says so; without a code, all of
them."""

from __future__ import annotations

import re
from bisect import bisect
from typing import Final, cast

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.codes import CODES
from polyloom.diagnostics import input_error
from polyloom.targets.entry import entries, load_named

_CODE: Final = re.compile("PL[0-9]{4}")
SUBJECTS: Final = {
    "PL01": "Syntax of programs",
    "PL02": "Meaning of programs",
    "PL03": "Machine descriptions",
    "PL04": "Mapping",
    "PL05": "Instantiation",
    "PL06": "Model and verification",
    "PL07": "Files",
    "PL08": "Command line",
    "PL09": "RISC-V",
    "PL10": "The belt machine",
    "PL11": "The belt machine: specializer",
    "PL12": "The Tensix tile",
    "PL13": "The Minion",
    "PL14": "Exploration",
    "PL15": "Debugging",
}
"""By the beginnings of their codes."""
_SITE: Final = "https://polyloom.github.io/polyloom/"


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="CODE", nargs="?", help="such as PL0804")


def known_codes() -> dict[str, tuple[str, str]]:
    """Diagnostic codes: ours, and those that targets bring."""
    brought = [
        cast("dict[str, tuple[str, str]]", load_named(e.codes)) for e in entries().values() if e.codes is not None
    ]
    return {**{code: entry for codes in brought for code, entry in codes.items()}, **CODES}


def code_address(code: str, title: str) -> str:
    """Address of a code's entry on the site: its anchor is the heading in lower case, with hyphens, without other
    marks.
    """
    anchor = re.sub(r"[^\w\- ]", "", f"{code}: {title}".lower()).replace(" ", "-")
    return f"{_SITE}errors.html#{anchor}"


def _related_codes(code: str, known: list[str]) -> str:
    """Help line with the codes next to one that does not exist, of the same subject; the range of all, where there is
    none.
    """
    if not _CODE.fullmatch(code):
        return "a code has the form PL0804; `polyloom explain` lists them"
    # The neighbours in order are likely misspellings of one digit.
    near = [known[n] for n in (bisect(known, code) - 1, bisect(known, code)) if 0 <= n < len(known)]
    shown = [found for found in near if found[:4] == code[:4]]
    return (
        f"{' and '.join(shown)} {'is' if len(shown) == 1 else 'are'} nearest; `polyloom explain` lists all codes"
        if (shown)
        else f"codes go from {known[0]} to {known[-1]}; `polyloom explain` lists them"
    )


def execute(options: Request) -> Answer:
    known = known_codes()
    if options.name is None:
        titles = {code: title for code, (title, _) in known.items()}
        return Answer({"codes": titles}, "\n".join(f"{code}  {title}" for code, title in titles.items()))
    code = options.name.upper()
    if code not in known:
        raise input_error("PL0813", f"there is no code '{options.name}'", help=_related_codes(code, sorted(known)))
    title, text = known[code]
    where = code_address(code, title)
    data = {"code": code, "title": title, "text": text, "address": where}
    return Answer(data, f"{code}: {title}\n\n{text}\n\n{where}")
