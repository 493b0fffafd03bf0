# SPDX-License-Identifier: Apache-2.0
"""Instruction selection of conditional values by tree covering: c ? a : f(b), masks, minima, saturating differences,
and what is made of them.

An expression is covered by rows of the table (table.py) bottom up, each subexpression by the rows that cost least
altogether (dynamic programming, Aho and Johnson 1976); a row for the whole expression is one candidate among them, so
that identity forms win.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.riscv.names import Isa
from polyloom.riscv.pseudo import constant_chain
from polyloom.riscv.selects.expression import COMMUTATIVE, Expression, Node, is_boolean, to_signed
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.table import SETS, Line, Row, search_results, table_rows
from polyloom.riscv.selects.variants import expression_variants

Bindings = Mapping[str, Expression]
_CONSTANTS: Final = ("j", "k")
_IMMEDIATE: Final = range(-2048, 2048)
_SHIFTS: Final = ("slli", "srli", "srai")


@dataclass(frozen=True, slots=True)
class Selection:
    """Selected sequence: lines that leave the value in `rd`. `searched` is the greatest length known not to suffice,
    None for none.
    """

    lines: tuple[Line, ...]
    searched: int | None

    @property
    def length(self) -> int:
        """Number of instructions, without moves, but with one in the shadow of a branch."""
        before = ("", *(line.mnemonic for line in self.lines))
        return sum(
            line.mnemonic != "mv" or last.startswith("b") for last, line in zip(before, self.lines, strict=False)
        )

    @property
    def proved_minimal(self) -> bool:
        return self.searched is not None and self.length <= self.searched + 1


def select_expression(expression: Expression, isa: Isa) -> Selection:
    """Shortest sequence for `expression` by the table. Errors: PL0920 for too large an integer, PL0921 where no rows
    cover it.
    """
    expression = _fit_integers(expression, isa.xlen)
    writer = _Writer(isa)
    result = writer.write(expression)
    lines = writer.lines
    if not lines or lines[-1].operands[0] != result:
        lines = [*lines, Line("mv", ("rd", result))]
    else:
        lines = [*lines[:-1], Line(lines[-1].mnemonic, ("rd", *lines[-1].operands[1:]))]
    return Selection(tuple(lines), _proved_length(expression, isa, len(lines)))


def _fit_integers(expression: Expression, xlen: int) -> Expression:
    """Expression with integers as registers hold them. Errors: PL0920."""
    if isinstance(expression, Node):
        return Node(expression.operator, tuple(_fit_integers(operand, xlen) for operand in expression.operands))
    if isinstance(expression, str):
        return expression
    largest = (1 << xlen) - 1
    if abs(expression) > largest:
        raise input_error(
            "PL0920",
            f"{expression} does not fit into a register of {xlen} bits",
            help=f"write an integer from {-largest} to {largest}",
        )
    return to_signed(expression % (largest + 1), xlen)


def _proved_length(expression: Expression, isa: Isa, length: int) -> int | None:
    """Greatest length of which a search has shown that it does not suffice; None where the form was not searched."""
    # No sequence is shorter than one instruction.
    if length <= 1:
        return 0
    extensions = isa.extensions & SETS[-1]
    return next(
        (
            searched
            for form, among, searched, _ in search_results()
            if among == extensions and _matches_form(parse_expression(form), expression)
        ),
        None,
    )


def _matches_form(pattern: Expression, expression: Expression) -> bool:
    """Whether they are the same but for the names of values."""
    for bindings in _match(pattern, expression, {}):
        values = list(bindings.values())
        # A form's proof holds for values of its own kind: `s` is 0 or 1, other names are anything.
        kinds = all(isinstance(v, str) and (is_boolean(k) == is_boolean(v)) for k, v in bindings.items())
        if kinds and len(set(values)) == len(values):
            return True
    return False


def _match(pattern: Expression, expression: Expression, bindings: Bindings) -> Iterator[Bindings]:
    """Pattern matching: the ways in which `expression` is an instance of `pattern`. Names stand for expressions, `s`
    for a boolean, j and k for constants.
    """
    if isinstance(pattern, int):
        if pattern == expression:
            yield bindings
    elif isinstance(pattern, str):
        if pattern in bindings:
            if bindings[pattern] == expression:
                yield bindings
        elif (pattern not in _CONSTANTS or isinstance(expression, int)) and (
            not is_boolean(pattern) or is_boolean(expression)
        ):
            yield {**bindings, pattern: expression}
    elif isinstance(expression, Node) and expression.operator == pattern.operator:
        yield from _match_operands(pattern.operands, expression.operands, bindings)
        if pattern.operator in COMMUTATIVE:
            yield from _match_operands(pattern.operands, expression.operands[::-1], bindings)


def _match_operands(
    patterns: tuple[Expression, ...], expressions: tuple[Expression, ...], bindings: Bindings
) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
    else:
        for first in _match(patterns[0], expressions[0], bindings):
            yield from _match_operands(patterns[1:], expressions[1:], first)


class _Writer:
    """Code generator of an expression, each common subexpression once."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.lines: list[Line] = []
        self.places: dict[Expression, str] = {}
        self.best: dict[Expression, tuple[int, Row, Bindings] | None] = {}

    def write(self, expression: Expression) -> str:
        """Register that holds the value. Errors: PL0921."""
        if isinstance(expression, str) or expression == 0:
            return expression if isinstance(expression, str) else "zero"
        if expression not in self.places:
            if isinstance(expression, int):
                self.places[expression] = self._load_constant(expression)
            else:
                choice = self._cheapest_row(expression)
                if choice is None:
                    raise input_error(
                        "PL0921",
                        f"{self.isa} has no sequence for an operator of this expression",
                        help="`*` needs the extension m",
                    )
                self.places[expression] = self._emit_row(choice[1], choice[2])
        return self.places[expression]

    def _emit_row(self, row: Row, bindings: Bindings) -> str:
        used = {operand for line in row.lines for operand in line.operands}
        registers = {
            name: self.write(value) for name, value in bindings.items() if name in used and name not in _CONSTANTS
        }
        for line in row.lines:
            operands = [
                registers[o] if o in registers else _operand_text(o, bindings, self.isa) for o in line.operands[1:]
            ]
            if line.mnemonic == "li":
                registers[line.operands[0]] = self._load_constant(int(operands[0]))
            else:
                registers[line.operands[0]] = self._append(line.mnemonic, *operands)
        return registers["rd"]

    def _append(self, mnemonic: str, *operands: str) -> str:
        made = f"t{len(self.lines)}"
        self.lines.append(Line(mnemonic, (made, *operands)))
        return made

    def _load_constant(self, value: int) -> str:
        register = ""
        for mnemonic, operand in constant_chain(value, self.isa.xlen):
            first = "li" if mnemonic == "addi" else mnemonic
            register = self._append(mnemonic, register, operand) if register else self._append(first, operand)
        return register

    def _cost(self, expression: Expression) -> int | None:
        """Cost in instructions; None where no row covers the expression."""
        if isinstance(expression, str):
            return 0
        if isinstance(expression, int):
            return len(constant_chain(expression, self.isa.xlen)) if expression else 0
        choice = self._cheapest_row(expression)
        return None if choice is None else choice[0]

    def _cheapest_row(self, expression: Expression) -> tuple[int, Row, Bindings] | None:
        """Cheapest row for the root, with the cost of the whole expression (memoized)."""
        if expression not in self.best:
            # A variant of an expression may contain the expression: while it is open it has no choice, which ends the
            # recursion.
            self.best[expression] = None
            found: list[tuple[int, Row, Bindings]] = []
            for variant in expression_variants(expression, self.isa.xlen):
                for row in table_rows(self.isa.extensions & (SETS[-1] | {"m"})):
                    found += [
                        (cost, row, bindings)
                        for bindings in _match(row.pattern, variant, {})
                        if (cost := self._total_cost(row, bindings)) is not None
                    ]
            # The first of the cheapest rows, in the order of the table: the result does not depend on anything else.
            self.best[expression] = min(found, key=lambda choice: choice[0], default=None)
        return self.best[expression]

    def _total_cost(self, row: Row, bindings: Bindings) -> int | None:
        """Cost of a row with all its operands. An operand that the row uses twice is computed once."""
        if not _constants_fit(row, bindings, self.isa):
            return None
        used = {operand for line in row.lines for operand in line.operands}
        costs = [self._cost(value) for name, value in bindings.items() if name in used and name not in _CONSTANTS]
        loads = [
            len(constant_chain(int(_operand_text(line.operands[1], bindings, self.isa)), self.isa.xlen))
            for line in row.lines
            if line.mnemonic == "li"
        ]
        own = sum(loads) + sum(line.mnemonic != "li" for line in row.lines)
        return None if None in costs else own + sum(cost for cost in costs if cost is not None)


def _operand_text(text: str, bindings: Bindings, isa: Isa) -> str:
    """An operand that is no register: a number, `XLEN-1`, or an expression of j and k."""
    j, k = (bindings.get(name, 0) for name in _CONSTANTS)
    assert isinstance(k, int) and isinstance(j, int)
    known = {
        "k": k,
        "j": j,
        "-k": -k,
        "k-j": k - j,
        "j-k": j - k,
        "XLEN-1": isa.xlen - 1,
        "lg(k)": k.bit_length() - 1,
        "lg(k-j)": (k - j).bit_length() - 1,
    }
    return "zero" if text == "zero" else str(known.get(text, text))


def _constants_fit(row: Row, bindings: Bindings, isa: Isa) -> bool:
    """Whether the row's constants satisfy its condition and fit their immediates."""
    j, k = (bindings.get(name, 0) for name in _CONSTANTS)
    if isinstance(k, int) and isinstance(j, int):
        if (row.condition == "k == j + 1" and k != j + 1) or (row.condition == "j == k + 1" and j != k + 1):
            return False
        for text, value in (("lg(k)", k), ("lg(k-j)", k - j)):
            if any(text in line.operands for line in row.lines) and (
                value <= 0 or value & value - 1 or value >> isa.xlen
            ):
                return False
    legal = {
        line: range(isa.xlen) if line.mnemonic in _SHIFTS else _IMMEDIATE for line in row.lines if line.mnemonic != "li"
    }
    return all(
        int(n) in r
        for line, r in legal.items()
        for o in line.operands
        if re.fullmatch(r"-?\d+", n := _operand_text(o, bindings, isa))
    )
