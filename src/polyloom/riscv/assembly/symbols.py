# SPDX-License-Identifier: Apache-2.0
"""Symbol table of an assembly text: labels, numbered labels, and symbols that are set to values (GNU as manual,
"Symbols").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.riscv.assembly.expressions import Lookup, Value, constant_value, evaluate
from polyloom.riscv.assembly.text import Text, split_operands
from polyloom.riscv.isa import F_NAMES, X_NAMES

SETTERS: Final = (".set", ".equ", ".equiv")
_NEAR: Final = re.compile(r"(?<![\w.$])(\d+)([bf])(?!\w)")
"""A reference to the last or the next label that is the number."""
_NAME: Final = re.compile(r"[A-Za-z_.$][\w.$]*")
_USE: Final = re.compile(r"""("(?:[^"\\]|\\.)*")|(?<![\w.$%])[A-Za-z_.$][\w.$]*""")
_ANYWHERE: Final = "memory"
"""The section of an address, once all of them lie in memory."""
_DEEPEST: Final = 100
"""Symbols that a value may be defined by, one by the next."""


@dataclass(slots=True)
class SymbolTable:
    """Symbols as far as the text is read; `here` is the place of the current statement."""

    here: Value = field(default_factory=lambda: Value(0))
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    """Labels, and symbols whose value was known where they were set."""
    later: dict[str, tuple[Text, Value]] = field(default_factory=dict[str, tuple[Text, Value]])
    """Symbols whose value is of labels that follow, with the place where they were set."""
    counts: Counter[str] = field(default_factory=Counter[str])
    set_again: set[str] = field(default_factory=set[str])
    """Names that may be set again, since they are no labels."""

    def define_label(self, label: Text, here: Value) -> None:
        """Defines a label; one that is a number may be defined again and again. Errors: PL0904."""
        name = label.text
        if name.isdigit():
            self.counts[name] += 1
            name = _local_label(name, self.counts[name])
        # Two labels of one name would make the meaning of jumps depend on the order of passes.
        elif self.is_defined(name):
            raise _repeated_label_error(label)
        self.values[name] = here

    def define_symbol(self, directive: Text, operands: Text) -> None:
        """Sets a symbol. Errors: PL0903 to PL0905."""
        given = split_operands(operands)
        if len(given) != 2 or _NAME.fullmatch(given[0].text) is None:
            help = f"write {directive.text} NAME, value"
            raise input_error("PL0905", "this sets no symbol", span=operands.span, help=help)
        name = given[0].text
        if self.is_defined(name) and (name not in self.set_again or directive.text == ".equiv"):
            raise _repeated_label_error(given[0])
        self.set_again.add(name)
        try:
            value = evaluate(given[1], self.lookup)
        except PolyloomError as error:
            if error.diagnostics[0].code != "PL0904":
                raise
            self.values.pop(name, None)
            self.later[name] = (given[1], self.here)
        else:
            self.later.pop(name, None)
            self.values[name] = value

    def is_defined(self, name: str) -> bool:
        return name in self.values or name in self.later

    def constant(self, text: Text) -> int:
        """Value of an expression that decides what is assembled. Errors: PL0903, PL0904."""
        return constant_value(self.resolve_local_labels(text), self.lookup)

    def lookup(self, name: Text) -> Value:
        """Value of a symbol that is known here. Errors: PL0904."""
        if name.text == ".":
            return self.here
        if name.text not in self.values:
            raise _unknown(name, [*self.values, *self.later])
        return self.values[name.text]

    def resolve_local_labels(self, operands: Text) -> Text:
        """Operands with numbered labels replaced by their names: `1b` is the last, `1f` the next `1`."""
        # Strings keep what looks like a reference.
        if _NEAR.search(operands.text) is None or operands.text[0] == '"':
            return operands
        text = _NEAR.sub(lambda m: _local_label(m[1], self.counts[m[1]] + (m[2] == "f")), operands.text)
        return Text(text, operands.span)

    def substitute_constants(self, operands: Text) -> Text:
        """Operands with numbers for the symbols that are constants here: `.set` may change them later."""
        # Most texts set no symbol, and statements are many.
        if not self.set_again:
            return operands

        def number(found: re.Match[str]) -> str:
            name = found[0]
            value = self.values.get(name) if name in self.set_again else None
            is_constant = value is not None and value.section is None and name not in _REGISTERS
            return str(value.number) if value is not None and is_constant else name

        text = _USE.sub(number, operands.text)
        return operands if text == operands.text else Text(text, operands.span)

    def labels(self, bases: Mapping[str, int]) -> dict[str, int]:
        """Addresses of labels, and of symbols that are set to addresses."""
        return {n: bases[v.section] + v.number for n, v in self.values.items() if v.section is not None}

    def final_lookup(self, bases: Mapping[str, int], here: int, depth: int = 0) -> Lookup:
        """Values of symbols once all sections have addresses; `here` is `.`."""

        def lookup(name: Text) -> Value:
            if name.text == ".":
                return Value(here, _ANYWHERE)
            if (value := self.values.get(name.text)) is not None:
                return value if value.section is None else Value(bases[value.section] + value.number, _ANYWHERE)
            if name.text in self.later:
                if depth >= _DEEPEST:
                    help = "set it to a constant, or to a label"
                    raise input_error("PL0904", f"'{name.text}' is defined by itself", span=name.span, help=help)
                text, place = self.later[name.text]
                at = place.number + (0 if place.section is None else bases[place.section])
                return evaluate(text, self.final_lookup(bases, at, depth + 1))
            raise _unknown(name, [*self.values, *self.later])

        return lookup


_REGISTERS: Final = frozenset((*X_NAMES, *F_NAMES, "fp", *(f"x{n}" for n in range(32)), *(f"f{n}" for n in range(32))))
"""Names that mean registers, also where a symbol has one of them."""


def _local_label(number: str, count: int) -> str:
    return f".L{number}${count}"


def _repeated_label_error(name: Text) -> PolyloomError:
    message = f"the label '{name.text}' is defined twice"
    return input_error("PL0904", message, span=name.span, help="rename one of them")


def _unknown(name: Text, known: list[str]) -> PolyloomError:
    if (near := re.fullmatch(r"\.L(\d+)\$\d+", name.text)) is not None:
        help = f"write `{near[1]}f` for the next and `{near[1]}b` for the last `{near[1]}:`"
        return input_error("PL0904", f"there is no label '{near[1]}' on this side", span=name.span, help=help)
    message = f"there is no label '{name.text}'"
    shown = [n for n in known if not n.startswith(".L")]
    help = nearest(name.text, shown, "label") if shown else f"define it: `{name.text}:`, or `.set {name.text}, value`"
    return input_error("PL0904", message, span=name.span, help=help)
