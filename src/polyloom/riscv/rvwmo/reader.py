# SPDX-License-Identifier: Apache-2.0
"""Parser of litmus tests in the herd format, by recursive descent, with errors at line and column (grammar in
litmus.py; diy tool suite, documentation, part "Litmus tests and their formats").
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest
from polyloom.numerals import parse_integer
from polyloom.riscv.isa import X_NAMES, register_number
from polyloom.riscv.rvwmo.instructions import canonical_operand
from polyloom.riscv.rvwmo.lexer import Token, tokens
from polyloom.riscv.rvwmo.litmus import (
    And,
    Declaration,
    Equal,
    Instruction,
    Litmus,
    Not,
    Or,
    Place,
    Proposition,
    Quantifier,
    Register,
    Statement,
)
from polyloom.riscv.rvwmo.values import Constant, Pointer

_LARGEST: Final = 1 << 64
_DEPTH: Final = 100


def read_litmus(source: Source) -> Litmus:
    """The test in `source`. Errors: PL0940 with the place."""
    name, info, start = _read_head(source)
    return _Reader(source, start).test(name, info)


def _read_head(source: Source) -> tuple[str, tuple[str, ...], int]:
    """The name, the lines of information, and where the initial state begins."""
    first, _, _ = source.text.partition("\n")
    words = first.split(maxsplit=1)
    if not words or words[0] != "RISCV":
        what = f"this is a test for {words[0]}" if words and words[0].isalnum() else "this is no litmus test"
        raise input_error(
            "PL0940",
            what,
            span=Span(source, 0, max(1, len(first))),
            help="the first line of a test is `RISCV` and its name",
        )
    if len(words) < 2:
        raise input_error(
            "PL0940", "the test has no name", span=Span(source, 0, len(first)), help="write for instance `RISCV MP`"
        )
    info: list[str] = []
    place = len(first) + 1
    while place < len(source.text):
        line = source.text[place:].partition("\n")[0]
        # Information lines may hold anything, up to the brace of the initial state.
        if line.lstrip().startswith("{"):
            return words[1].strip(), tuple(info), place
        if line.strip():
            info.append(line.strip())
        place += len(line) + 1
    raise input_error(
        "PL0940",
        "the test has no initial state",
        span=Span(source, 0, len(first)),
        help="write { 0:x6=x; x=1; } below the name",
    )


class _Reader:
    """Recursive-descent parser: the tokens, and the place among them."""

    def __init__(self, source: Source, start: int) -> None:
        self._words = list(tokens(source, start))
        self._next = 0

    def test(self, name: str, info: tuple[str, ...]) -> Litmus:
        declarations = self._declarations()
        harts = self._program()
        locations = self._locations()
        filter = self._proposition() if self._accept("filter") else None
        quantifier, condition = self._observation()
        self._accept(";")
        if self._word.kind != "end":
            raise self._error("this is behind the end of the test", "a test ends with its condition")
        made = Litmus(name, harts, declarations, quantifier, condition, locations, filter, info)
        self._check_harts(made)
        return made

    # Words

    @property
    def _word(self) -> Token:
        return self._words[self._next]

    @property
    def _following(self) -> Token:
        return self._words[min(self._next + 1, len(self._words) - 1)]

    def _take(self) -> Token:
        word = self._word
        if word.kind != "end":
            self._next += 1
        return word

    def _accept(self, *texts: str) -> bool:
        """Take the words `texts`, if they come next."""
        found = [word.text for word in self._words[self._next : self._next + len(texts)]] == list(texts)
        self._next += len(texts) * found
        return found

    def _expect(self, text: str, help: str) -> Token:
        if self._word.text != text:
            raise self._error(f"'{text}' must stand here", help)
        return self._take()

    def _error(self, message: str, help: str, word: Token | None = None) -> PolyloomError:
        return input_error("PL0940", message, span=(word or self._word).span, help=help)

    def _integer(self, what: str) -> int:
        word = self._take()
        if word.kind != "number":
            raise self._error(f"{what} must stand here", "write decimal digits, or hexadecimal ones after 0x", word)
        value = _parse_number(word.text)
        if not -_LARGEST // 2 <= value < _LARGEST:
            raise self._error(
                f"{word.text} does not fit in 64 bits", "registers and locations have at most 64 bits", word
            )
        return value

    # Initial state

    def _declarations(self) -> tuple[Declaration, ...]:
        self._expect("{", "the initial state stands in braces")
        made: list[Declaration] = []
        while not self._accept("}"):
            if self._accept(";"):
                continue
            made.append(self._declaration())
            if self._word.text not in (";", "}"):
                raise self._error("';' must stand here", "declarations are separated by semicolons: { 0:x6=x; x=1; }")
        return tuple(made)

    def _declaration(self) -> Declaration:
        start = self._word
        following = self._following
        # `int x = 1`, `int *p = &x` and `x = 1` begin alike: the word after the first one tells.
        typed = (
            start.kind == "name"
            and (following.text in ("*", "[") or following.kind in ("name", "number"))
            and not _is_hart(start, following)
        )
        type = self._take().text if typed else None
        pointer = self._accept("*")
        place = self._place()
        value: Constant | None = None
        if self._accept("="):
            self._accept("&")
            value = self._constant()
        return Declaration(place, value, type, pointer, start.span)

    def _place(self) -> Place:
        word = self._take()
        if word.kind == "number" or _is_hart(word, self._word):
            self._expect(":", "a register is written hart:register, for instance 0:x5")
            written = self._word.text
            return Register(_parse_number(word.text.removeprefix("P")), self._register(), written)
        if word.text == "[":
            word = self._take()
            self._expect("]", "a location is written [x] or x")
        if word.kind != "name":
            raise self._error(
                "a register or a location must stand here",
                "write 0:x5 for a register of hart 0, x for a location",
                word,
            )
        return word.text

    def _register(self) -> int:
        word = self._take()
        number = register_number(word.text, X_NAMES)
        if number is None:
            raise self._error(
                f"'{word.text}' is no integer register",
                nearest(word.text, [*(f"x{n}" for n in range(32)), *X_NAMES], "register"),
                word,
            )
        return number

    def _constant(self) -> Constant:
        following = self._following
        if self._word.kind == "name" and not _is_hart(self._word, following):
            return Pointer(self._take().text)
        if following.text == ":":
            hart, _, label = self._take(), self._take(), self._take()
            return Pointer(f"P{hart.text.removeprefix('P')}:{label.text}")
        value = self._integer("a value")
        # Values are signed throughout; a test may write the bits without a sign.
        return value - _LARGEST if value >= _LARGEST // 2 else value

    # Program

    def _program(self) -> tuple[tuple[Statement, ...], ...]:
        count = self._harts()
        columns: list[list[Statement]] = [[] for _ in range(count)]
        while self._word.kind != "end" and self._word.text not in (
            "exists",
            "forall",
            "~",
            "locations",
            "filter",
            "final",
            "not",
        ):
            for hart in range(count):
                columns[hart].append(self._cell())
                if hart + 1 < count and not self._accept("|"):
                    raise self._error(
                        f"hart {hart + 1} has no cell in this row",
                        "separate the cells of a row by '|'; a cell may be empty",
                    )
            self._expect(";", f"a row has {count} cells, separated by '|', and ends in ';'")
        return tuple(_attach_labels(column) for column in columns)

    def _harts(self) -> int:
        count = 0
        while True:
            self._expect(f"P{count}", "the program begins with a row of harts: P0 | P1 ;")
            count += 1
            if not self._accept("|"):
                break
        self._expect(";", "the row of harts ends in ';'")
        return count

    def _cell(self) -> Statement:
        labels: list[str] = []
        while self._word.kind == "name" and self._following.text == ":":
            labels.append(self._take().text)
            self._take()
        if self._word.text in ("|", ";"):
            return Statement(None, tuple(labels))
        first = self._take()
        if first.kind != "name":
            raise self._error(
                "an instruction must stand here", "write a mnemonic and its operands, for instance lw x5,0(x6)", first
            )
        operands = [self._operand()] if self._word.text not in ("|", ";") else []
        while self._accept(","):
            operands.append(self._operand())
        span = Span(first.span.source, first.span.start, self._words[self._next - 1].span.end)
        if self._word.text not in ("|", ";"):
            raise self._error("the operands end before this", "separate operands by ',', cells by '|', rows by ';'")
        return Statement(Instruction(first.text, tuple(operands), span), tuple(labels))

    def _operand(self) -> str:
        word = self._take()
        if word.text == "(":
            return f"0{self._base()}"
        if word.kind not in ("name", "number"):
            raise self._error(
                "an operand must stand here", "operands are registers, integers, labels, and addresses like 0(x6)", word
            )
        if self._accept("("):
            return f"{word.text}{self._base()}"
        return canonical_operand(word.text)

    def _base(self) -> str:
        """Of an address, what follows its opening parenthesis."""
        number = self._register()
        self._expect(")", "an address is written offset(register)")
        return f"(x{number})"

    # What is observed

    def _locations(self) -> tuple[Place, ...]:
        made: list[Place] = []
        if self._accept("locations"):
            self._expect("[", "write locations [0:x5; x;]")
            while not self._accept("]"):
                made.append(self._place())
                if self._word.text not in (";", "]"):
                    raise self._error("';' must stand here", "write locations [0:x5; x;]")
                self._accept(";")
        return tuple(made)

    def _observation(self) -> tuple[Quantifier, Proposition]:
        if self._word.kind == "end":
            # herd takes a test without a condition, whose states are then all that is asked for.
            return "forall", And()
        if self._accept("~", "exists") or self._accept("not", "exists"):
            return "~exists", self._proposition()
        if self._accept("forall"):
            return "forall", self._proposition()
        if self._accept("exists") or self._accept("final") or self._word.text == "(":
            return "exists", self._proposition()
        raise self._error("the condition must stand here", "write exists, forall or ~exists and a proposition")

    def _proposition(self, depth: int = 0) -> Proposition:
        parts = [self._conjunction(depth)]
        while self._accept("\\/"):
            parts.append(self._conjunction(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self, depth: int) -> Proposition:
        parts = [self._literal(depth)]
        while self._accept("/\\"):
            parts.append(self._literal(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _literal(self, depth: int) -> Proposition:
        # Recursive descent: the bound comes before Python's own.
        if depth > _DEPTH:
            raise self._error("the proposition is nested too deeply", f"use at most {_DEPTH} levels")
        if self._accept("not") or self._accept("~"):
            return Not(self._literal(depth + 1))
        if self._accept("true"):
            return And()
        if self._accept("false"):
            return Or()
        if not self._accept("("):
            return self._equation()
        inner = self._proposition(depth + 1)
        self._expect(")", "this parenthesis is not closed")
        return inner

    def _equation(self) -> Proposition:
        start = self._word.span
        place = self._place()
        differs = self._accept("!=")
        if not (differs or self._accept("==") or self._accept("=")):
            raise self._error("'=' must stand here", "a proposition compares places with constants: 0:x5=1 /\\ x=2")
        made = Equal(place, self._constant(), Span(start.source, start.start, self._words[self._next - 1].span.end))
        return Not(made) if differs else made

    def _check_harts(self, test: Litmus) -> None:
        """Registers belong to harts of the test."""
        for number, word in enumerate(self._words[:-2]):
            hart = (
                _parse_number(word.text.removeprefix("P"))
                if word.kind == "number" or _is_hart(word, self._words[number + 1])
                else 0
            )
            if self._words[number + 1].text == ":" and hart not in range(len(test.harts)):
                raise self._error(f"there is no hart {hart}", f"the harts are P0 to P{len(test.harts) - 1}", word)


def _parse_number(text: str) -> int:
    """Integer of a token."""
    return parse_integer(text, 16 if "x" in text.lower() else 10)


def _is_hart(word: Token, following: Token) -> bool:
    return following.text == ":" and word.text[:1] == "P" and word.text[1:].isdecimal()


def _attach_labels(column: list[Statement]) -> tuple[Statement, ...]:
    """Statements of a column: labels alone in a cell belong to the next instruction; empty cells mean nothing."""
    made: list[Statement] = []
    labels: tuple[str, ...] = ()
    for statement in column:
        labels += statement.labels
        if statement.instruction is not None:
            made.append(replace(statement, labels=labels))
            labels = ()
    return (*made, Statement(None, labels)) if labels else tuple(made)
