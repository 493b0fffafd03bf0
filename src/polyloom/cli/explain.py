# SPDX-License-Identifier: Apache-2.0
"""`polyloom explain`: what a diagnostic code means and how to mend it; without a code, all of them."""

from __future__ import annotations

import re
from typing import Final

from polyloom.cli.answer import Answer
from polyloom.cli.arguments import Parser, Request
from polyloom.codes import CODES
from polyloom.diagnostics import input_error, nearest

_CODE: Final = re.compile("PL[0-9]{4}")


def arguments(parser: Parser) -> None:
    parser.add_argument("name", metavar="CODE", nargs="?", help="such as PL0804")


def execute(options: Request) -> Answer:
    if options.name is None:
        return Answer({"codes": {code: title for code, (title, _) in CODES.items()}}, "\n".join(f"{code}  {title}" for code, (title, _) in CODES.items()))
    code = options.name.upper()
    if code not in CODES:
        help = nearest(code, CODES, "code") if _CODE.fullmatch(code) else "a code has the form PL0804; `polyloom explain` lists them"
        raise input_error("PL0813", f"there is no code '{options.name}'", help=help)
    title, text = CODES[code]
    return Answer({"code": code, "title": title, "text": text}, f"{code}: {title}\n\n{text}")
