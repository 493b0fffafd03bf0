# SPDX-License-Identifier: Apache-2.0
"""Calls of library functions, found again in terms, for machines that compute a function in a way of their own.

A nest contains a function as the steps of its program (ir/library.py, transform/library.py). A term that is such a
program of some x, step by step, is `Apply(name, (x,))` here: tree matching against one pattern a function, which is
exact, as both come from one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final

from polyloom.ir.formula import Apply, Formulas, Leaf, Number, Sum, Term, leaves
from polyloom.ir.library import SINGLE, program
from polyloom.ir.pla import Constant
from polyloom.sets import Affine

_X: Final = Leaf("", ())
"""In patterns, the operand."""


def with_calls(formulas: Formulas) -> Formulas:
    """Pattern matching of library calls in formulas: programs of a function's steps become one `Apply`, and definitions
    that nothing needs then are left out.
    """
    terms = {d.name: d.term for d in formulas.definitions}
    # A leaf that reads a definition at its own loops stands for the term: a pattern may span formulas.
    as_read = {Leaf(d.name, tuple(map(Affine.symbol, d.dims))): d.term for d in formulas.definitions}
    called = {name: match_calls(term, lambda leaf: as_read.get(leaf, leaf)) for name, term in terms.items()}
    needed, left = set[str](), [output.definition for output in formulas.outputs]
    while left:
        name = left.pop()
        if name in called and name not in needed:
            needed.add(name)
            left += (leaf.array for leaf in leaves(called[name]))
    kept = (replace(d, term=called[d.name]) for d in formulas.definitions if d.name in needed)
    return replace(formulas, definitions=tuple(kept))


def match_calls(term: Term, defined: Callable[[Leaf], Term] = lambda leaf: leaf) -> Term:
    """The term with calls in it. `defined` gives what a leaf is, where another formula computes that. Parts that are
    one object stay one."""
    made = dict[int, Term]()

    def rewrite_shared(part: Term) -> Term:
        # By identity: terms are graphs with shared parts, and equality would walk them as trees.
        if id(part) not in made:
            made[id(part)] = rewrite(part)
        return made[id(part)]

    def rewrite(part: Term) -> Term:
        match part:
            case Apply():
                name, operands = find_call(part, defined) or (part.operation, part.operands)
                return Apply(name, tuple(map(rewrite_shared, operands)), part.span)
            case Sum():
                return replace(part, term=rewrite_shared(part.term))
            case _:
                return part

    return rewrite_shared(term)


def find_call(term: Apply, defined: Callable[[Leaf], Term]) -> tuple[str, tuple[Term, ...]] | None:
    """Library function whose program a term is, with its operand; None where it is no such program."""
    for name in (*SINGLE, "rint"):
        found = _Match(defined)
        if found.matches(_pattern(name), term):
            assert found.x is not None, "a function has an operand"
            return name, (found.x,)
    return None


@cache
def _pattern(name: str) -> Term:
    """Pattern of a function: its program (`ir.library`) in f32 as a term over one operand."""
    found, values = program(name, "f32"), list[Term]()
    for step in found.steps:
        operands = (Number(o.value) if isinstance(o, Constant) else _X if o < 0 else values[o] for o in step.operands)
        values.append(Apply(step.operation, tuple(operands)))
    return values[-1]


@dataclass(slots=True)
class _Match:
    """Tree matching of one pattern, in time linear in the pairs of parts that meet (Hoffmann, O'Donnell, "Pattern
    matching in trees", 1982). `x` is what stands for the operand so far; mutable.
    """

    defined: Callable[[Leaf], Term]
    x: Term | None = None
    known: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def matches(self, pattern: Term, term: Term) -> bool:
        # The operand may occur several times, and must be the same term each time.
        if pattern is _X:
            self.x = term if self.x is None else self.x
            return self.x is term or self.x == term
        term = self.defined(term) if isinstance(term, Leaf) else term
        if not isinstance(pattern, Apply) or not isinstance(term, Apply):
            return pattern == term
        pair = id(pattern), id(term)
        if pair not in self.known and not self._parts_match(pattern, term):
            return False
        # Only successes are kept: a failed match ends the search for this pattern.
        self.known.add(pair)
        return True

    def _parts_match(self, pattern: Apply, term: Apply) -> bool:
        if (pattern.operation, len(pattern.operands)) != (term.operation, len(term.operands)):
            return False
        return all(map(self.matches, pattern.operands, term.operands))
