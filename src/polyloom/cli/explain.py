# SPDX-License-Identifier: Apache-2.0
"""`polyloom explain`: what a diagnostic code means, how to mend it, and where the site says so; without a code, all of
them."""

from __future__ import annotations

import re
from typing import Final, cast

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.codes import CODES
from polyloom.diagnostics import input_error, nearest
from polyloom.targets.entry import entries, loaded

_CODE: Final = re.compile("PL[0-9]{4}")
_SITE: Final = "https://polyloom.github.io/polyloom/"


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="CODE", nargs="?", help="such as PL0804")


def _codes() -> dict[str, tuple[str, str]]:
    """Ours, and those that targets bring."""
    brought = [cast("dict[str, tuple[str, str]]", loaded(e.codes)) for e in entries().values() if e.codes is not None]
    return {**{code: entry for codes in brought for code, entry in codes.items()}, **CODES}


def address(code: str, title: str) -> str:
    """Of a code's entry on the site: its anchor is the heading in lower case, with hyphens, without other marks."""
    anchor = re.sub(r"[^\w\- ]", "", f"{code}: {title}".lower()).replace(" ", "-")
    return f"{_SITE}errors.html#{anchor}"


def execute(options: Request) -> Answer:
    known = _codes()
    if options.name is None:
        titles = {code: title for code, (title, _) in known.items()}
        return Answer({"codes": titles}, "\n".join(f"{code}  {title}" for code, title in titles.items()))
    code = options.name.upper()
    if code not in known:
        help = (
            nearest(code, known, "code")
            if _CODE.fullmatch(code)
            else "a code has the form PL0804; `polyloom explain` lists them"
        )
        raise input_error("PL0813", f"there is no code '{options.name}'", help=help)
    title, text = known[code]
    where = address(code, title)
    data = {"code": code, "title": title, "text": text, "address": where}
    return Answer(data, f"{code}: {title}\n\n{text}\n\n{where}")
