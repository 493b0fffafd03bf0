# SPDX-License-Identifier: Apache-2.0
"""Integer expressions of assembly: operators by precedence, over constants and addresses (GNU as manual, "Integer
Expressions", "Infix Operators").

An address is a distance from the beginning of a section; the difference of two in one section is a constant, even
before it is known where the section lies. Comparisons give -1 or 0, as there.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv.assembly.text import Text, piece


@dataclass(frozen=True, slots=True)
class Value:
    """Value of an expression: a constant, or an address in a section."""

    number: int
    section: str | None = None


Lookup = Callable[[Text], Value]
"""The value of a symbol, `.` among them; it raises PL0904 where there is none."""

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][\da-fA-F]+|0[bB][01]+|\d+)(?:[uU]?[lL]{0,2})(?![\w.$])|('(?:\\.|[^'\\])'?)|([A-Za-z_.$][\w.$]*)"
    r"|(\|\||&&|<<|>>|==|!=|<>|<=|>=|[-+*/%|&^!<>~()]))"
)
_ESCAPES: Final = {"n": 10, "t": 9, "r": 13, "b": 8, "f": 12, "0": 0}
_MAXIMUM_SHIFT: Final = 64
_MOST_DIGITS: Final = 100
_DEEPEST: Final = 100
"""Parentheses and signs within each other."""


def _quotient(a: int, b: int) -> int:
    """Division that rounds toward zero, as in C."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _comparison(compare: Callable[[int, int], bool]) -> Callable[[int, int], int]:
    return lambda a, b: -int(compare(a, b))


# Level of precedence, and what an operator does to constants. `|`, `&`, `^` and `!` bind more tightly than `+`.
_BINARY: Final[dict[str, tuple[int, Callable[[int, int], int]]]] = {
    "||": (1, lambda a, b: int(bool(a or b))),
    "&&": (2, lambda a, b: int(bool(a and b))),
    "==": (3, _comparison(operator.eq)),
    "!=": (3, _comparison(operator.ne)),
    "<>": (3, _comparison(operator.ne)),
    "<": (3, _comparison(operator.lt)),
    ">": (3, _comparison(operator.gt)),
    "<=": (3, _comparison(operator.le)),
    ">=": (3, _comparison(operator.ge)),
    "+": (4, operator.add),
    "-": (4, operator.sub),
    "|": (5, lambda a, b: a | b),
    "&": (5, lambda a, b: a & b),
    "^": (5, lambda a, b: a ^ b),
    "!": (5, lambda a, b: a | ~b),
    "*": (6, operator.mul),
    "/": (6, _quotient),
    "%": (6, lambda a, b: a - b * _quotient(a, b)),
    "<<": (6, lambda a, b: a << b),
    ">>": (6, lambda a, b: a >> b),
}
_UNARY: Final[dict[str, Callable[[int], int]]] = {
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
    "!": lambda a: int(not a),
}


def evaluate(text: Text, lookup: Lookup) -> Value:
    """Value of an expression. Errors: PL0903 for one that is none, and those of `lookup`."""
    reader = _Reader(text, lookup)
    found = reader.binary(0)
    if reader.token is not None:
        raise reader.error()
    return found


def constant_value(text: Text, lookup: Lookup | None = None) -> int:
    """Value of an expression that is a constant. Errors: PL0903, PL0904."""
    found = evaluate(text, lookup or refuse_symbol)
    if found.section is None:
        return found.number
    help = "give a constant, such as a difference of two labels of one section"
    raise input_error("PL0903", f"'{text.text}' is an address", span=text.span, help=help)


def legal_value(text: Text, legal: range, lookup: Lookup | None = None) -> int:
    """Value of an expression that is one of some constants. Errors: PL0903, PL0904."""
    value = constant_value(text, lookup)
    if value in legal:
        return value
    help = f"write an integer from {legal[0]} to {legal[-1]}"
    raise input_error("PL0903", f"{value} is out of range", span=text.span, help=help)


def refuse_symbol(name: Text) -> Value:
    raise input_error(
        "PL0903", f"'{name.text}' is no integer", span=name.span, help="write for instance 12, -1 or 0x7ff"
    )


@dataclass(slots=True)
class _Reader:
    """Precedence climbing (Richards and Whitby-Strevens 1979) over the tokens of one expression."""

    text: Text
    lookup: Lookup
    place: int = 0
    depth: int = 0
    token: re.Match[str] | None = field(init=False)

    def __post_init__(self) -> None:
        self.token = _TOKEN.match(self.text.text)
        if self.token is None:
            raise self.error()

    def error(self) -> PolyloomError:
        help = "write for instance 12, -1 or 0x7ff"
        return input_error("PL0903", f"'{self.text.text}' is no integer", span=self.text.span, help=help)

    def advance(self) -> re.Match[str]:
        found = self.token
        if found is None:
            raise self.error()
        self.place = found.end()
        self.token = _TOKEN.match(self.text.text, self.place)
        if self.token is None and self.text.text[self.place :].strip():
            raise self.error()
        return found

    def binary(self, least: int) -> Value:
        """Operators of at least a level, left to right."""
        left = self.unary()
        while self.token is not None and self.token[4] in _BINARY and _BINARY[self.token[4]][0] > least:
            symbol = self.advance()[4]
            left = self.apply(symbol, left, self.binary(_BINARY[symbol][0]))
        return left

    def unary(self) -> Value:
        """Operand, within a bounded number of parentheses and signs: the reader calls itself for each."""
        self.depth += 1
        if self.depth > _DEEPEST:
            message = f"this expression has more than {_DEEPEST} parentheses and signs within each other"
            raise input_error("PL0903", message, span=self.text.span, help="set a symbol to a part of it")
        found = self.operand()
        self.depth -= 1
        return found

    def operand(self) -> Value:
        token = self.advance()
        if token[1]:
            # A number that begins with 0 is octal.
            octal = len(token[1]) > 1 and token[1].isdigit() and token[1][0] == "0"
            # Python reads no number of thousands of digits, and no field has more than 64 bits.
            if (octal and re.search("[89]", token[1])) or len(token[1]) > _MOST_DIGITS:
                raise self.error()
            return Value(int(token[1], 8 if octal else 0))
        if token[2]:
            return Value(_character(token[2]))
        if token[3]:
            return self.lookup(piece(self.text, token.start(3), token.end(3)))
        if token[4] == "(":
            found = self.binary(0)
            if self.token is None or self.advance()[4] != ")":
                raise self.error()
            return found
        if token[4] not in _UNARY:
            raise self.error()
        found = self.unary()
        if found.section is not None and token[4] != "+":
            raise self.address_error()
        return Value(_UNARY[token[4]](found.number), found.section)

    def apply(self, symbol: str, a: Value, b: Value) -> Value:
        """Value of an operation. Errors: PL0903 for what has no meaning on addresses, or on numbers."""
        if (symbol in "/%" and b.number == 0) or (symbol in ("<<", ">>") and not 0 <= b.number < _MAXIMUM_SHIFT):
            what = "divides by zero" if symbol in "/%" else f"shifts by {b.number}"
            raise input_error(
                "PL0903", f"this {what}", span=self.text.span, help="divide by another number, shift by 0 to 63"
            )
        section = None
        if a.section is not None or b.section is not None:
            moves = (symbol in "+-" and b.section is None) or (symbol == "+" and a.section is None)
            if not moves and (a.section != b.section or symbol not in ("-", "==", "!=", "<>", "<", ">", "<=", ">=")):
                raise self.address_error()
            section = (a.section or b.section) if moves else None
        return Value(_BINARY[symbol][1](a.number, b.number), section)

    def address_error(self) -> PolyloomError:
        message = f"'{self.text.text}' computes with addresses that are not known yet"
        help = "subtract two labels of one section, or add a constant to a label"
        return input_error("PL0903", message, span=self.text.span, help=help)


def _character(text: str) -> int:
    body = text[1:].removesuffix("'") if len(text) > 2 else text[1:]
    return ord(body) if body[0] != "\\" else _ESCAPES.get(body[1], ord(body[1]))
