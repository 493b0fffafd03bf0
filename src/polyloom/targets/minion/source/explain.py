# SPDX-License-Identifier: Apache-2.0
"""Diagnostics of a program in C: what clang and the linker say, at the user's places and in the terms of intrinsics."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from polyloom.diagnostics import Diagnostic, Span
from polyloom.frontend.c.clang import diagnostics
from polyloom.frontend.c.positions import Files

_OPERAND: Final = re.compile(r"static assertion failed.*: (\S+: the .* is a constant from .*)")
_NO_CONSTANT: Final = re.compile(r"expression is not an integ\w+ constant expression")
_UNDEFINED: Final = re.compile(r"undefined symbol: (.*)(?:\n>>> referenced by .*\((.*):(\d+)\))?")
_OVERFLOWED: Final = re.compile(r"will not fit in region 'RAM': overflowed by (\d+) bytes")
_DOUBLE: Final = re.compile(r"__\w*df\w*")


def explain_compiler(sources: Sequence[str], messages: str) -> Iterator[Diagnostic]:
    """Diagnostics of clang's messages, in files as the user named them. PL0151, PL1375."""
    # The unit includes the file by its whole path.
    for path in sources:
        messages = messages.replace(f"{Path(path).resolve()}:", f"{path}:")
    seen: Span | None = None
    for found in diagnostics(messages):
        operand, is_variable = _OPERAND.search(found.message), bool(_NO_CONSTANT.search(found.message))
        # The check and the use of an operand that is no constant are both errors, at one place.
        if is_variable and found.span == seen:
            continue
        seen = found.span
        if operand:
            help = "an instruction holds this operand itself: write a number that fits"
            yield replace(found, code="PL1375", message=operand[1], help=help)
        elif is_variable and (name := _word(found.span)).startswith("et_"):
            help = "an instruction holds it itself: write a number, a macro or an enumerator, or a `switch` over calls"
            yield replace(found, code="PL1375", message=f"an operand of {name} is no constant", help=help)
        else:
            yield found


def _word(span: Span | None) -> str:
    return span.source.text[span.start : span.end] if span else ""


def explain_linker(sources: Sequence[str], messages: str) -> Iterator[Diagnostic]:
    """Diagnostics of the linker's messages. PL1373."""
    shown, known, found = " ".join(sources), Files(), False
    given = {str(Path(path).resolve()): path for path in sources}
    # Names of other messages would only follow from it.
    if overflowed := _OVERFLOWED.search(messages):
        help = "make arrays or --stack smaller"
        yield Diagnostic("PL1373", f"{shown}: {overflowed[1]} bytes more than the memory has", help=help)
        return
    # A linker repeats a name for each place that mentions it.
    for name in dict.fromkeys(match[1] for match in _UNDEFINED.finditer(messages)):
        match = next(each for each in _UNDEFINED.finditer(messages) if each[1] == name)
        span = known.word_span(given[match[2]], int(match[3]), 1) if match[2] in given else None
        found = True
        # GCC names routines of `double` with `df`.
        if _DOUBLE.fullmatch(name):
            message = f"{shown}: needs {name}, a function of `double`, which minions do not have"
            yield Diagnostic("PL1373", message, span=span, help="write `float`, and constants as 1.0f")
        else:
            help = "define `int main(void)`" if name == "main" else f"give the file that defines {name}, too"
            yield Diagnostic("PL1373", f"{shown}: nothing defines {name}", span=span, help=help)
    if not found:
        yield Diagnostic("PL1373", f"{shown}: the linker says: {messages.strip()[:400]}")
