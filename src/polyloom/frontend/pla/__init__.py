# SPDX-License-Identifier: Apache-2.0
"""Front end of the equation language: from a `.pla` text to a typed piecewise linear algorithm (docs/language.md)."""

from __future__ import annotations

from pathlib import Path, PurePath

from polyloom.analysis.check import check
from polyloom.diagnostics import Source, input_error
from polyloom.files import read_source
from polyloom.frontend.pla.lower import lower
from polyloom.frontend.pla.syntax import parse_syntax
from polyloom.frontend.pla.types import infer
from polyloom.ir.pla import Program
from polyloom.recursion import nesting_error, with_deep_stack

__all__ = ["load", "parse"]


def parse(text: str, name: str = "<string>") -> Program:
    """Parse a text to a program, checked for all parameter values; `name` is shown in messages, its stem names the
    program.

    Raises `PolyloomError` with located diagnostics (PL01xx syntax, PL02xx meaning).
    """
    try:
        # Editors on Windows put a byte order mark in front of UTF-8.
        return _parse(Source(name, text.removeprefix("\ufeff")))
    except RecursionError:
        raise nesting_error(name) from None


@with_deep_stack
def _parse(source: Source) -> Program:
    program = infer(PurePath(source.name).stem.encode(errors="replace").decode(), lower(parse_syntax(source)))
    check(program)
    return program


def load(path: str | Path) -> Program:
    """Parse a file; raises PL0104 when it cannot be read or is not UTF-8."""
    try:
        text = read_source(str(path), ".pla").decode()
    except UnicodeDecodeError:
        raise input_error(
            "PL0104", f"cannot read {path}: it is not UTF-8 text", help="give the path of a .pla file"
        ) from None
    return parse(text.replace("\r\n", "\n").replace("\r", "\n"), str(path))
