# SPDX-License-Identifier: Apache-2.0
"""Vectorizes the innermost loops of a module, and says what became of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from polyloom.diagnostics import infeasible
from polyloom.ir.ssa import Place
from polyloom.targets.belt.front.affine import Form, Forms, steps
from polyloom.targets.belt.front.fresh import names
from polyloom.targets.belt.front.head import headed
from polyloom.targets.belt.front.simplify import simplify
from polyloom.targets.belt.ir import Function, Loop, Module
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.vectorize.analyse import Refused, analyse, counts, iterations
from polyloom.targets.belt.vectorize.rewrite import vectorized
from polyloom.targets.belt.vectorize.whole import in_whole_passes

Vectorize = Literal["never", "try", "always"]
_EMULATED: Final = "emulated."


@dataclass(frozen=True, slots=True)
class Vectorized:
    """What became of a loop: its lanes, or 1 and the reason."""

    function: str
    loop: str
    lanes: int
    reason: str
    place: Place


def vectorize(
    module: Module, machine: Machine, how: Vectorize, reassociate: bool
) -> tuple[Module, tuple[Vectorized, ...]]:
    """The module, whose loops have their order. Errors: PL1091 (exit 3) with the first reason, unless it is to try."""
    found: list[Vectorized] = []
    functions: list[Function] = []
    for function in module.functions:
        fresh = names(function)
        changed = function = headed(function, fresh) if how != "never" else function
        own = not function.name.startswith(_EMULATED)
        for loop in [b for b in function.blocks if isinstance(b, Loop)] if own and how != "never" else []:
            try:
                plan = analyse(changed, loop, machine.vector, reassociate)
                made = in_whole_passes if counts(plan) else vectorized
                changed = made(changed, plan, fresh)
                found.append(Vectorized(function.name, loop.name, plan.lanes, "", loop.place))
            except Refused as refused:
                found.append(Vectorized(function.name, loop.name, 1, str(refused), loop.place))
        functions.append(simplify(changed) if changed is not function else function)
    if how == "always" and (refused := next((v for v in found if v.reason), None)) is not None:
        words = refused.place.words(refused.place.file)
        raise infeasible(
            "PL1091",
            f"the loop of {refused.function}{f', {words}' if words else ''} is not vectorized: {refused.reason}",
            help="compile with --vectorize=try, which leaves such loops scalar",
        )
    return replace(module, functions=tuple(functions)), tuple(found)


def expected(function: Function, expect: Mapping[str, int]) -> Function:
    """The function with the number of iterations of loops that constants and likely values of parameters tell."""
    blocks = tuple(_expected(function, b, expect) if isinstance(b, Loop) else b for b in function.blocks)
    return replace(function, blocks=blocks)


def _expected(function: Function, loop: Loop, expect: Mapping[str, int]) -> Loop:
    forms = Forms(function, loop)
    counted = iterations(function, loop, forms, steps(loop, forms))
    if counted is None:
        return loop
    whole, number = Forms(function), Form(counted[1].constant)
    for atom, coefficient in counted[1].terms:
        number = number + whole.named(atom) * coefficient
    if any(atom not in expect for atom, _ in number.terms):
        return loop
    total = number.constant + sum(expect[atom] * c for atom, c in number.terms)
    return replace(loop, expected=total) if total > 0 else loop
