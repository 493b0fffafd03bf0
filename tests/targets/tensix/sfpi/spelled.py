# SPDX-License-Identifier: Apache-2.0
"""Random vector kernels as text, in C++ and in Python, which say the same.

    cplusplus, python = spelled(Random(0))        # both define the kernel `f`

Floats and integers, nested conditions, blocks, and stores to rows of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

FLOATS = ("x", "y", "z")
INTEGERS = ("i", "j")
_LITERALS = ("0.0", "1.0", "-1.0", "0.5", "3.25", "-7.0", "0.1", "100000.0")
_COMPARISONS = ("<", "<=", "==", "!=", ">=", ">")


@dataclass(frozen=True, slots=True)
class Said:
    """One thing in both languages."""

    cplusplus: str
    python: str


def _both(form: str, *parts: Said) -> Said:
    """The same operator in both."""
    return Said(form.format(*(p.cplusplus for p in parts)), form.format(*(p.python for p in parts)))


@dataclass(slots=True)
class _Speller:
    """Mutable: the lines of both texts; `row` is where the next store goes."""

    random: Random
    lines: list[Said] = field(default_factory=list[Said])
    row: int = 4

    def name(self, names: tuple[str, ...]) -> Said:
        found = self.random.choice(names)
        return Said(found, found)

    def literal(self) -> Said:
        found = self.random.choice(_LITERALS)
        return Said(f"{found}f", found)

    def floating(self, depth: int = 2) -> Said:
        """Never a literal alone."""
        kind = self.random.randrange(10) if depth else 9
        if kind < 3:
            return _both(
                f"({{0}} {self.random.choice('+-*')} {{1}})", self.floating(depth - 1), self.floating(depth - 1)
            )
        if kind < 5:
            pair = [self.floating(depth - 1), self.literal()]
            self.random.shuffle(pair)
            return _both(f"({{0}} {self.random.choice('+-*')} {{1}})", *pair)
        inner = self.floating(depth - 1) if depth else self.name(FLOATS)
        if kind == 5:
            return _both("(-{0})", inner)
        if kind == 6:
            return _both("abs({0})", inner)
        if kind == 7:
            return self.function(inner)
        return self.name(FLOATS)

    def function(self, a: Said) -> Said:
        name, more = self.random.choice((("setexp", "126"), ("addexp", "2"), ("setsgn", "1")))
        return Said(f"{name}({a.cplusplus}, {more})", f"t.{name}({a.python}, {more})")

    def integer(self, depth: int = 2) -> Said:
        kind = self.random.randrange(8) if depth else 7
        if kind < 3:
            return _both(
                f"({{0}} {self.random.choice('+-&|^')} {{1}})", self.integer(depth - 1), self.integer(depth - 1)
            )
        if kind < 5:
            number = str(self.random.randrange(1, 200))
            form = f"({{0}} {self.random.choice('+-&')} {number})"
            return _both(form, self.integer(depth - 1))
        if kind == 5:
            return _both("(~{0})", self.integer(depth - 1))
        if kind == 6:
            a = self.floating(0)
            return Said(f"exexp({a.cplusplus}, ExponentMode::Biased)", f"t.exexp({a.python}, biased=True)")
        return self.name(INTEGERS)

    def condition(self, depth: int = 1) -> Said:
        if depth and self.random.randrange(3) == 0:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            cplusplus, python = self.random.choice((("&&", "&"), ("||", "|")))
            return Said(f"({a.cplusplus} {cplusplus} {b.cplusplus})", f"({a.python} {python} {b.python})")
        if depth and self.random.randrange(6) == 0:
            a = self.condition(depth - 1)
            return Said(f"!{a.cplusplus}", f"~{a.python}")
        comparison = self.random.choice(_COMPARISONS)
        if self.random.randrange(3):
            return _both(f"({{0}} {comparison} {{1}})", self.floating(1), self.literal())
        return _both(f"({{0}} {comparison} {{1}})", self.integer(1), self.name(INTEGERS))

    def say(self, depth: int, cplusplus: str, python: str | None) -> None:
        indent = "    " * depth
        self.lines.append(Said(indent + cplusplus, "" if python is None else indent + python))

    def block(self, depth: int, left: int) -> None:
        for _ in range(self.random.randrange(1, 4)):
            self.statement(depth, left)

    def statement(self, depth: int, left: int) -> None:
        kind = self.random.randrange(10)
        if kind < 2 and left:
            self.v_if(depth, left - 1)
        elif kind == 2 and left:
            self.v_block(depth, left - 1)
        elif kind == 3:
            value = self.floating()
            self.say(depth, f"dst_reg[{self.row}] = {value.cplusplus};", f"dst[{self.row}] = {value.python}")
            self.row += 1
        else:
            is_float = self.random.randrange(3) > 0
            target = self.random.choice(FLOATS if is_float else INTEGERS)
            value = self.floating() if is_float else self.integer()
            self.say(depth, f"{target} = {value.cplusplus};", f"{target} = {value.python}")

    def v_if(self, depth: int, left: int) -> None:
        first = self.condition()
        self.say(depth, f"v_if ({first.cplusplus}) {{", f"with pl.v_if({first.python}):")
        self.block(depth + 1, left)
        if self.random.randrange(2):
            other = self.condition()
            self.say(depth, f"}} v_elseif ({other.cplusplus}) {{", f"with pl.v_elseif({other.python}):")
            self.block(depth + 1, left)
        if self.random.randrange(2):
            self.say(depth, "} v_else {", "with pl.v_else:")
            self.block(depth + 1, left)
        self.say(depth, "} v_endif;", None)

    def v_block(self, depth: int, left: int) -> None:
        self.say(depth, "v_block {", "with pl.v_block():")
        self.block(depth + 1, left)
        condition = self.condition()
        self.say(depth + 1, f"v_and ({condition.cplusplus});", f"pl.v_and({condition.python})")
        self.block(depth + 1, left)
        self.say(depth, "} v_endblock;", None)


def spelled(random: Random, statements: int = 6) -> tuple[str, str]:
    """The texts of a header and of a Python file."""
    speller = _Speller(random)
    for k, name in enumerate((*FLOATS, *INTEGERS)):
        kind = "Float" if name in FLOATS else "Int"
        speller.say(1, f"v{kind} {name} = dst_reg[{k}];", f"{name} = pl.v{kind.lower()}(dst[{k}])")
    for _ in range(statements):
        speller.statement(1, 2)
    for k, name in enumerate((*FLOATS, *INTEGERS)):
        speller.say(1, f"dst_reg[{20 + k}] = {name};", f"dst[{20 + k}] = {name}")
    cplusplus = "\n".join(line.cplusplus for line in speller.lines)
    python = "\n".join(line.python for line in speller.lines if line.python)
    head = "import polyloom as pl\n\nt = pl.tensix\n\n\n@pl.tensix.kernel\ndef f(dst):\n"
    return f'#include "sfpi.h"\n\nusing namespace sfpi;\n\nvoid f() {{\n{cplusplus}\n}}\n', f"{head}{python}\n"
