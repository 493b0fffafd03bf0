# SPDX-License-Identifier: Apache-2.0
"""Parser of expressions over integer registers in C's notation: `x < y ? a + 1 : a`, `min(a, b)`.

Precedence is C's (C11, section 6.5). `<u`, `<=u`, `>u`, `>=u` and `>>u` are unsigned; there is no division and no
assignment.
"""

from __future__ import annotations

import re
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest
from polyloom.riscv.selects.expression import FUNCTIONS, Expression, binary, choose, comparison, unary

_TOKEN: Final = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|((?:<=|>=|<|>|>>)u(?!\w)|<<|>>|<=|>=|==|!=|&(?!&)|\|(?!\|)|[-+*^~!?:(),<>])|$)"
)
_LEVELS: Final = (
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<u", "<=", "<=u", ">", ">u", ">=", ">=u"),
    ("<<", ">>", ">>u"),
    ("+", "-"),
    ("*",),
)
_OPERATORS: Final = "write names, whole numbers and C's operators, but for / % && || = and those on memory"
_DEEPEST: Final = 50
_LONGEST: Final = 100
"""Words in an expression, and characters in a number."""


def parse_expression(text: str) -> Expression:
    """Canonical expression of `text`. Errors: PL0920, with the place."""
    return _Parser(text).whole()


class _Parser:
    """Recursive descent by levels of precedence, lowest first."""

    def __init__(self, text: str) -> None:
        self.source = Source("EXPR", text)
        self.tokens: list[tuple[str, int]] = []
        self.depth = 0
        place = 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                place += len(text[place:]) - len(text[place:].lstrip())
                word = text[place : place + 2] if text[place] in "&|" else text[place]
                raise self._error(place, place + len(word), f"'{word}' is no part of an expression", _OPERATORS)
            self.tokens += [(found[n], found.start(n)) for n in (1, 2, 3) if found[n] is not None]
            place = found.end()
        if len(self.tokens) > _LONGEST or any(len(word) > _LONGEST for word, _ in self.tokens):
            raise self._error(
                0,
                len(text),
                f"the expression has more than {_LONGEST} words, or a word of more characters",
                "write it in parts",
            )
        self.tokens.append(("", len(text)))

    def whole(self) -> Expression:
        made = self._conditional()
        if self._peek():
            raise self._unexpected_word("an operator")
        return made

    def _conditional(self) -> Expression:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._unexpected_word(f"fewer than {_DEEPEST} levels")
        condition = self._level(0)
        if self._accept("?"):
            a = self._conditional()
            self._expect(":")
            condition = choose(condition, a, self._conditional())
        self.depth -= 1
        return condition

    def _level(self, number: int) -> Expression:
        if number == len(_LEVELS):
            return self._unary()
        made = self._level(number + 1)
        while self._peek() in _LEVELS[number]:
            operator = self._take()
            other = self._level(number + 1)
            made = (comparison if operator[0] in "=!<>" and operator[:2] not in ("<<", ">>") else binary)(
                operator, made, other
            )
        return made

    def _unary(self) -> Expression:
        if self._peek() in ("-", "~", "!", "+"):
            operator = self._take()
            self.depth += 1
            if self.depth > _DEEPEST:
                raise self._unexpected_word(f"fewer than {_DEEPEST} levels")
            inner = self._unary()
            self.depth -= 1
            return inner if operator == "+" else unary(operator, inner)
        if self._accept("("):
            made = self._conditional()
            self._expect(")")
            return made
        word, place = self.tokens[0]
        if word[:1].isdigit():
            return int(self._take(), 0) if not re.fullmatch("0\\d+", word) else int(self._take())
        if not re.match(r"[A-Za-z_]", word):
            raise self._unexpected_word("a name, a number or (")
        self._take()
        return self._call(word, place) if self._peek() == "(" else self._name(word, place)

    def _call(self, name: str, place: int) -> Expression:
        if name not in FUNCTIONS:
            raise self._error(
                place, place + len(name), f"there is no function '{name}'", nearest(name, FUNCTIONS, "function")
            )
        self._expect("(")
        arguments = [self._conditional()]
        while self._accept(","):
            arguments.append(self._conditional())
        self._expect(")")
        count, function = FUNCTIONS[name]
        if len(arguments) != count:
            raise self._error(
                place,
                place + len(name),
                f"'{name}' takes {count} operand{'s' * (count > 1)}, not {len(arguments)}",
                f"write {name}({', '.join('ab'[:count])})",
            )
        return function(arguments[0], arguments[-1])

    def _name(self, name: str, place: int) -> str:
        if re.fullmatch(r"rd|zero|t\d+", name):
            raise self._error(
                place,
                place + len(name),
                f"'{name}' names a register of the sequence",
                "use another name, such as a, b, c, x or y",
            )
        return name

    def _peek(self) -> str:
        return self.tokens[0][0]

    def _take(self) -> str:
        return self.tokens.pop(0)[0]

    def _accept(self, word: str) -> bool:
        return self._peek() == word and bool(self._take())

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self._unexpected_word(f"'{word}'")

    def _unexpected_word(self, what: str) -> PolyloomError:
        word, place = self.tokens[0]
        return self._error(
            place,
            place + max(1, len(word)),
            f"expected {what}, found {repr(word) if word else 'the end'}",
            "write for instance 'c ? a : -b'",
        )

    def _error(self, start: int, end: int, message: str, help: str) -> PolyloomError:
        return input_error("PL0920", message, span=Span(self.source, start, end), help=help)
