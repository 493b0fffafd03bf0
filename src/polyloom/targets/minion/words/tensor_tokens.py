# SPDX-License-Identifier: Apache-2.0
"""Token reader of a tensor instruction: its words, taken one after another by what they look like.

A reader takes those that its operation has, in any order; what is left over is an error that names it. Numbers may be
symbols, which a caller resolves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from polyloom.numerals import parse_integer
from polyloom.targets.minion.words.tensor_words import SCP_LINES

REGISTERS: Final = 32
Resolve = Callable[[str], int]


def parse_number(text: str) -> int:
    """Number, decimal or with 0x or 0b. ValueError for anything else."""
    try:
        return parse_integer(text, 0)
    except ValueError:
        raise ValueError(f"'{text}' is no number") from None


@dataclass(slots=True)
class Tokens:
    """Words that are left. Mutable: what has been taken is gone."""

    operation: str
    left: list[str]
    resolve: Resolve = parse_number

    def take(self, pattern: str, what: str) -> re.Match[str]:
        """The first word that a pattern matches whole; `what` is how it is written."""
        # Operands may stand in any order, so that the whole list is searched.
        found = self.take_optional(pattern)
        if found is None:
            raise ValueError(f"{self.operation} needs {what}")
        return found

    def take_optional(self, pattern: str) -> re.Match[str] | None:
        """The first word that a pattern matches whole, None where there is none."""
        for at, word in enumerate(self.left):
            if found := re.fullmatch(pattern, word, re.IGNORECASE):
                del self.left[at]
                return found
        return None

    def flag(self, name: str) -> int:
        """1 where the word is there."""
        return int(self.take_optional(re.escape(name)) is not None)

    def value(self, key: str, default: int | None = None) -> int:
        """Value of KEY=VALUE. ValueError where it is missing and has no default."""
        found = self.take_optional(rf"{key}=(.+)")
        if found is None:
            if default is None:
                raise ValueError(f"{self.operation} needs {key}=…")
            return default
        return self.resolve(found[1])

    def lines(self, prefix: str = "") -> tuple[int, int]:
        """Lines scp[FIRST..LAST] of L1Scp, which may wrap at 48: the first line, and how many."""
        what = f"{prefix}scp[first..last]"
        found = self.take(re.escape(prefix) + r"scp\[(\d+)(?:\.\.(\d+))?\]", what)
        # Lines wrap at 48 like the machine's (manual, chapter 9), so the count is taken modulo.
        first = int(found[1])
        return first, (int(found[2] or found[1]) - first) % SCP_LINES + 1

    def registers(self, prefix: str = "") -> tuple[int, int]:
        """Registers fFIRST..fLAST, which may wrap at 32: the first register, and how many lie from it to the last."""
        found = self.take(re.escape(prefix) + r"f(\d+)(?:\.\.f(\d+))?", f"{prefix}f0..f31")
        first, last = int(found[1]), int(found[2] or found[1])
        if max(first, last) >= REGISTERS:
            raise ValueError(f"registers are f0 to f31, not {found[0]}")
        return first, (last - first) % REGISTERS + 1

    def shape(self, dimensions: int, what: str, unit: str = "") -> tuple[int, ...]:
        found = self.take("x".join([r"(\d+)"] * dimensions) + unit, what)
        return tuple(int(each) for each in found.groups())

    def end(self) -> None:
        if self.left:
            raise ValueError(f"{self.operation} does not take '{self.left[0]}'")


def span(first: int, count: int) -> str:
    """Lines as they are written, wrapping at 48."""
    return f"scp[{first}]" if count == 1 else f"scp[{first}..{(first + count - 1) % SCP_LINES}]"


def register_span(first: int, count: int) -> str:
    # Registers wrap from f31 to f0 in a tensor word.
    return f"f{first}" if count == 1 else f"f{first}..f{(first + count - 1) % REGISTERS}"
