# SPDX-License-Identifier: Apache-2.0
"""Recursive-descent parser of integer expressions in operands: the operators of the C standard on numbers, vector
registers, and names of the configuration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from polyloom.diagnostics import Source, Span, input_error, nearest
from polyloom.numerals import parse_integer

# `:` belongs to words, since kernels write `p_sfpu::LREG3`.
_TOKEN: Final = re.compile(r"\s*(?:(?P<token>0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+|[\w:]+|<<|>>|[^\s])|$)")
# The lengths are bounded because Python refuses to convert very long decimal numbers.
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]{1,64}|0[bB][01]{1,256}|[0-9]{1,64})")
_REGISTER: Final = re.compile(r"(?:p_sfpu::)?L(?:REG)?([0-9]|1[0-6])")
_Operator = Callable[[int, int], int]
_LEVELS: Final[tuple[Mapping[str, _Operator], ...]] = (
    {"|": int.__or__},
    {"^": int.__xor__},
    {"&": int.__and__},
    {"<<": int.__lshift__, ">>": int.__rshift__},
    {"+": int.__add__, "-": int.__sub__},
    {"*": int.__mul__},
)
"""Operators by how tightly they bind, the loosest first."""
# Python's own recursion ends at a fault that cannot be located in the text.
_DEEPEST, _SHIFT = 32, 64


@dataclass(slots=True)
class Reader:
    """Cursor over `source.text[start:end]`, which it reads once, with one token of lookahead."""

    source: Source
    at: int
    end: int
    names: Mapping[str, int]
    depth: int = 0

    def peek(self) -> str:
        found = _TOKEN.match(self.source.text, self.at, self.end)
        return found["token"] or "" if found else ""

    def take(self) -> str:
        found = _TOKEN.match(self.source.text, self.at, self.end)
        assert found is not None
        self.at = found.end()
        return found["token"] or ""

    def value(self, level: int = 0) -> int:
        """Precedence climbing: the value of binary operators of this level and tighter ones, left-associative."""
        if level == len(_LEVELS):
            return self.unary()
        left = self.value(level + 1)
        while (sign := self.peek()) in _LEVELS[level]:
            self.take()
            start = self.at
            right = self.value(level + 1)
            if sign in ("<<", ">>") and not 0 <= right < _SHIFT:
                self.fail(f"cannot shift by {right}", f"shift by 0 to {_SHIFT - 1}", str(right), start)
            left = _LEVELS[level][sign](left, right)
        return left

    def unary(self) -> int:
        token, start = self.peek(), self.at
        # Every nesting, of a sign or a parenthesis, passes here once.
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail("the expression is nested too deeply", "write a number", token)
        self.take()
        value = self.atom(token, start)
        self.depth -= 1
        return value

    def atom(self, token: str, start: int) -> int:
        """Sign, parenthesis, number, register or name. Errors: PL1203."""
        if token in ("-", "~", "+"):
            inner = self.unary()
            return -inner if token == "-" else ~inner if token == "~" else inner
        if token == "(":
            inner = self.value()
            if self.take() != ")":
                self.fail("a parenthesis is not closed", "write `)`", ")", start)
            return inner
        if _NUMBER.fullmatch(token):
            return parse_integer(token, 0 if token[:2].lower() in ("0x", "0b") else 10)
        if (register := _REGISTER.fullmatch(token)) is not None:
            return int(register[1])
        if token in self.names:
            return self.names[token]
        if re.fullmatch(r"[A-Za-z_]\w*", token):
            known = re.fullmatch(r"[Ll]\d*", token) is None
            help = nearest(token, self.names, "name") if known else "the registers are L0 to L15"
            self.fail(f"there is no name '{token}'", help, token, start)
        return self.fail(
            "expected a number", "write a number, a register such as L3 or a name of the configuration", "", start
        )

    def fail(self, message: str, help: str, token: str, start: int | None = None) -> NoReturn:
        first = self.at if start is None else start
        first += len(self.source.text[first : self.end]) - len(self.source.text[first : self.end].lstrip())
        span = Span(self.source, first, first + max(len(token), 1))
        raise input_error("PL1203", message, span=span, help=help)
