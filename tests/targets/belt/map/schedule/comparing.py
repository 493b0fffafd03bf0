# SPDX-License-Identifier: Apache-2.0
"""A module specialized, its words run on the model, and everything compared with the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, cast

import numpy as np
from tests.targets.belt.generate import draw

from polyloom.diagnostics import PolyloomError
from polyloom.ir.signature import Signature
from polyloom.targets.belt.compile import Ratio, specialize
from polyloom.targets.belt.machine import Machine, member, members
from polyloom.targets.belt.run import model
from polyloom.targets.belt.source.interpret import interpret
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.loop_facts import LoopFacts

NAMELESS = Signature("f", (), (), ())
Arguments = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One of the draws: a loop, a member with phases or without, a solver."""

    seed: int
    machine: Machine
    solver: str
    most: int


def drawn(seed: int) -> Drawn:
    random = Random(seed)
    machine = member(members()[seed % len(members())], random.random() < 0.5)
    return Drawn(seed, machine, random.choice(("torus", "exact")), random.choice((6, 8, 12, 12, 16, 40)))


def copied(arguments: Arguments) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def contents(arguments: Arguments) -> list[bytes]:
    return [cast("Any", a).tobytes() for a in arguments if isinstance(a, np.ndarray)]


def check_run(module: Module, data: bytes, arguments: Arguments) -> model.Run:
    """Results and memory of a run are those of the interpreter."""
    ours, theirs = copied(arguments), copied(arguments)
    expected = interpret(module, theirs).results
    run = model.run(data, ours, max_cycles=1_000_000)
    assert run.results == expected, (run.results, expected)
    assert contents(ours) == contents(theirs)
    return run


def check(
    module: Module,
    machine: Machine,
    arguments: Callable[[int], Arguments],
    spl: Ratio = "always",
    solver: str = "exact",
    counts: Sequence[int] | None = None,
) -> LoopFacts:
    """All trip counts from 0 to three times the stages, or those that are given."""
    program, facts = specialize(module, machine, spl=spl, solver=solver, effort=0.1)
    data = belt_file.write(program, NAMELESS)
    loop = facts[0]
    stages = loop.stages or 1
    for n in range(3 * stages + 1) if counts is None else counts:
        run = check_run(module, data, arguments(n))
        if loop.pipelined and loop.belt_high_water is not None and loop.initiation_interval is not None:
            assert run.high_water <= machine.belt
    return loop


def check_drawn(seed: int) -> LoopFacts | None:
    """A random loop. None where scratch is too short for it, which only small members may say."""
    given = drawn(seed)
    random = Random(seed)
    case = draw(random, given.most)
    try:
        return check(case.module, given.machine, lambda n: case.arguments(n, random), solver=given.solver)
    except PolyloomError as error:
        if error.code == "PL1110" and given.machine.scratch < 512:
            return None
        raise
