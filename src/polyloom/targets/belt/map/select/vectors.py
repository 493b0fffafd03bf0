# SPDX-License-Identifier: Apache-2.0
"""Vectorization of a program's functions: which are tried, and what is said where a loop cannot be vectorized."""

from __future__ import annotations

from collections.abc import Callable

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.ir.ssa import Function
from polyloom.transform.ssa.vectorize.vectorize import Vectorized, VectorMachine, vectorize

_EMULATED = "emulated."


def make_vectorizer(machine: VectorMachine, found: list[Vectorized]) -> Callable[[Function, bool], Function]:
    """Change that vectorizes a function, unless it is a routine of ours; `found` gets what becomes of loops."""

    def change(function: Function, outside: bool) -> Function:
        # Emulation routines have loops over bits, which are no loops of the user's.
        if function.name.startswith(_EMULATED):
            return function
        made, loops = vectorize(function, machine, outside)
        found.extend(loops)
        return made

    return change


def check_vectorized(function: Function, found: list[Vectorized]) -> Function:
    """Check that every loop was vectorized. Errors: PL1091 (exit 3) with the first reason."""
    for refused in (each for each in found if each.reason):
        raise _refusal(refused)
    return function


def _refusal(refused: Vectorized) -> PolyloomError:
    words = refused.place.words(refused.place.file)
    return infeasible(
        "PL1091",
        f"the loop of {refused.function}{f', {words}' if words else ''} is not vectorized: {refused.reason}",
        help="compile with --vectorize=try, which leaves such loops scalar",
    )
