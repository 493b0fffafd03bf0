# SPDX-License-Identifier: Apache-2.0
"""Programs with one number changed by one, and inputs that tell them from the right ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words.program import Belt, Bundle, Issue, Operand, Program

GENASM = Path(__file__).parents[1] / "source"
SIZES = (-3, 0, 1, 2, 5, 9, 17)
LONGER = (-3, 0, 1, 2, 9, 17, 32, 33, 40, 71)
"""For vectors of 32 bytes."""
Place = tuple[int, int, int, int]
"""Routine, bundle, issue (-1: the header), operand (-1: another field)."""
Arguments = list[Any]


def module(name: str) -> Module:
    return read_genasm((GENASM / f"{name}.genasm").read_text(encoding="utf-8"), name)


def changes(program: Program) -> Iterator[tuple[Place, Program]]:
    """Each operand position, drop count, delay and offset of scratch, up or down by one."""
    rng = Random(1)
    for r, routine in enumerate(program.routines):
        for b, bundle in enumerate(routine.bundles):
            for place, made in _bundles(bundle, rng):
                bundles = (*routine.bundles[:b], made, *routine.bundles[b + 1 :])
                routines = (*program.routines[:r], replace(routine, bundles=bundles), *program.routines[r + 1 :])
                yield (r, b, *place), replace(program, routines=routines)


def _bundles(bundle: Bundle, rng: Random) -> Iterator[tuple[tuple[int, int], Bundle]]:
    yield (-1, -1), replace(bundle, drops=_by_one(bundle.drops, rng))
    for n, issue in enumerate(bundle.issues):
        for operand, made in _issues(issue, rng):
            yield (n, operand), replace(bundle, issues=(*bundle.issues[:n], made, *bundle.issues[n + 1 :]))


def _issues(issue: Issue, rng: Random) -> Iterator[tuple[int, Issue]]:
    for n, operand in enumerate(issue.operands):
        if isinstance(operand, Belt) and operand.position >= 0:
            made: Operand = Belt(_by_one(operand.position, rng))
            yield n, replace(issue, operands=(*issue.operands[:n], made, *issue.operands[n + 1 :]))
    if issue.delay:
        yield -1, replace(issue, delay=_by_one(issue.delay, rng))
    if issue.name in ("fill", "fillx", "spill", "spillx", "scratchf"):
        yield -1, replace(issue, offset=_by_one(issue.offset, rng))


def _by_one(number: int, rng: Random) -> int:
    return number + rng.choice((-1, 1)) if number else 1


def inputs(name: str, sizes: Sequence[int] = SIZES) -> Iterator[Arguments]:
    rng = np.random.default_rng(5)
    for n in sizes:
        size = max(n, 0)
        x, y = (rng.integers(-1000, 1000, size, dtype=np.int32) for _ in "xy")
        text = np.append(rng.integers(1, 127, size, dtype=np.int8), np.int8(0))
        zeros = np.zeros(size, np.int32)
        match name:
            case "clipped":
                yield [n, -300, 400, x]
            case "dot":
                yield [n, x, y]
            case "fir4":
                yield [n, rng.integers(-9, 9, 4, dtype=np.int32), np.append(x, np.arange(3, dtype=np.int32)), zeros]
            case "iir":
                yield [n, 20000, 3, x, zeros]
            case "strcpy":
                yield [np.zeros(size + 1, np.int8), text]
            case "strlen":
                yield [text]
            case _:
                yield [n, 5000, 6000, x]
                for k in range(size):
                    for found in (5000, 6000):
                        there = x.copy()
                        there[k] = found
                        yield [n, 5000, 6000, there]
