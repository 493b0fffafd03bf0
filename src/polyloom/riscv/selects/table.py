# SPDX-License-Identifier: Apache-2.0
"""Select table: sequences for patterns of expressions, as data.

select.txt holds what an exhaustive search found (search.py writes it; superoptimization, Massalin 1987): for every form
and set of extensions the greatest length that was searched in vain, and the sequence of one more instruction, where
there is one. rules.txt holds single instructions and sequences with constants, which need no search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from polyloom.riscv.selects.expression import Expression
from polyloom.riscv.selects.notation import parse_expression

SETS: Final = (frozenset[str](), frozenset({"zbb"}), frozenset({"zicond"}), frozenset({"zbb", "zicond"}))
"""The extension sets that were searched."""
_RULE: Final = re.compile(r"(.*?) => (.*?)(?: if (.*?))?(?: \[(.*)\])?")


@dataclass(frozen=True, slots=True)
class Line:
    """Instruction of a sequence: a mnemonic and its operands: the names of the pattern, `t0`, ... and `rd` for results,
    numbers.
    """

    mnemonic: str
    operands: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.mnemonic} {', '.join(self.operands)}"


@dataclass(frozen=True, slots=True)
class Row:
    """Table row: a sequence for a pattern. `condition` restricts constants: `k == j + 1`."""

    pattern: Expression
    extensions: frozenset[str]
    lines: tuple[Line, ...]
    condition: str


@cache
def table_rows(extensions: frozenset[str]) -> tuple[Row, ...]:
    """Rows that need no more than a set of extensions, searched ones first."""
    return tuple(row for row in (*searched_rows(), *rules()) if row.extensions <= extensions)


@cache
def rules() -> tuple[Row, ...]:
    """The rows of rules.txt."""
    return tuple(map(_parse_rule, _data_lines("rules.txt")))


def _parse_rule(line: str) -> Row:
    found = _RULE.fullmatch(line)
    assert found is not None
    pattern, sequence, condition, extensions = found.groups()
    return Row(
        parse_expression(pattern),
        frozenset(extensions.split("+") if extensions else ()),
        read_lines(sequence),
        condition or "",
    )


@cache
def searched_rows() -> tuple[Row, ...]:
    """The sequences of select.txt."""
    return tuple(
        Row(parse_expression(form), extensions, lines, "") for form, extensions, _, lines in search_results() if lines
    )


@cache
def search_results() -> tuple[tuple[str, frozenset[str], int, tuple[Line, ...]], ...]:
    """Entries of select.txt: form, extensions, greatest length searched in vain, and the lines."""
    made: list[tuple[str, frozenset[str], int, tuple[Line, ...]]] = []
    form = ""
    for line in _data_lines("select.txt"):
        if not line.startswith(" "):
            form = line
            continue
        extensions, searched, *sequence = line.split(maxsplit=2)
        made.append(
            (
                form,
                frozenset(extensions.split("+")) - {"base"},
                int(searched),
                read_lines(sequence[0]) if sequence else (),
            )
        )
    return tuple(made)


def read_lines(text: str) -> tuple[Line, ...]:
    """`neg t0,s ; and rd,a,t0`."""
    parts = [part.split() for part in text.split(";")]
    return tuple(Line(mnemonic, tuple(operands.split(","))) for mnemonic, operands in parts)


def _data_lines(name: str) -> Iterator[str]:
    text = files("polyloom.riscv.selects").joinpath(name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line and not line.startswith("#"))
