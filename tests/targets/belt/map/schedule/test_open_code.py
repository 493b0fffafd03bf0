# SPDX-License-Identifier: Apache-2.0
"""Blocks outside of pipelined loops: more values than the belt holds, calls, and what leaves a loop with much."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from tests.targets.belt.map.schedule import comparing

from polyloom.targets.belt.compile import Ratio, specialize
from polyloom.targets.belt.machine import member, members
from polyloom.targets.belt.map.schedule.blocks import function_schedule
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words.conasm import print_program
from polyloom.targets.belt.words.conasm_read import read

WIDE = 14
"""More parameters of a block than a belt of 8, nearly as many as one of 16."""


def wide(leaves: bool) -> Module:
    """A loop with many parameters, all of which are what it gives; with `leaves`, a pipelined one may be made of it."""
    parameters = [f"%s{k}: w" for k in range(WIDE)]
    ops = [f"    %t{k}: w = add %s{k}, %s{(k + 1) % WIDE}" for k in range(WIDE)]
    given = ", ".join(f"%s{k}" for k in range(WIDE))
    sums = [f"    %u{k}: w = xor %{'u' if k > 1 else 'r'}{k - 1}, %r{k}" for k in range(1, WIDE)]
    more = ", ".join(f"%t{k}" for k in range(WIDE))
    start = ", ".join(f"{k}:w" for k in range(WIDE))
    body = (
        f"loop body(%i: w, {', '.join(parameters)}):\n    %q: b = geqs %i, %n\n    leavetr %q, done({given})\n"
        f"    %j: w = add %i, 1:w\n{chr(10).join(ops)}\n    next %j, {more}\n"
        if leaves
        else f"body(%i: w, {', '.join(parameters)}):\n    %q: b = geqs %i, %n\n"
        f"    branch %q, done({given}), more\nmore:\n    %j: w = add %i, 1:w\n{chr(10).join(ops)}\n"
        f"    jump body(%j, {more})\n"
    )
    results = ", ".join(f"%r{k}: w" for k in range(WIDE))
    tail = f"done({results}):\n{chr(10).join(sums)}\n    return %u{WIDE - 1}\n}}\n"
    return read_genasm(f"function f(%n: w) -> w {{\nentry:\n    jump body(0:w, {start})\n{body}{tail}")


@pytest.mark.parametrize("leaves", (True, False))
@pytest.mark.parametrize("machine", [m for m in members() if m != "tin"])
def test_more_parameters_than_the_belt_holds(leaves: bool, machine: str) -> None:
    for phasing in (True, False):
        program, _ = specialize(wide(leaves), member(machine, phasing), spl="always", effort=0.1)
        data = comparing.belt_file.write(program, comparing.NAMELESS)
        for n in (0, 1, 2, 9):
            comparing.check_run(wide(leaves), data, [n])


@pytest.mark.parametrize("machine", ["copper", "silver"])
def test_spills_on_the_way_take_fewer_bundles_than_one_operation_after_the_other(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _bundles(machine)
    monkeypatch.setattr(function_schedule, "MODES", ("greedy", "serial"))
    assert 3 * found < _bundles(machine)


def _bundles(machine: str) -> int:
    program, _ = specialize(wide(False), member(machine))
    return len(program.routines[0].bundles)


NESTED = """
function f(%n: w, %m: w, %x: w) -> w {
entry:
    jump outer(0:w, 0:w)
outer(%i: w, %s: w):
    %p: b = geqs %i, %n
    branch %p, done(%s), rows
rows:
    %row: w = mul %i, %m
    %k: w = call @twice(%row)
    jump body(0:w, %s)
loop body(%j: w, %t: w):
    %q: b = geqs %j, %m
    leavetr %q, after(%t)
    %a: w = add %row, %j
    %v: w = load w %x, %a * 4
    %u: w = add %t, %v
    %j2: w = add %j, 1:w
    next %j2, %u
after(%t2: w):
    %s2: w = add %t2, %k
    %i2: w = add %i, 1:w
    jump outer(%i2, %s2)
done(%r: w):
    return %r
}
function twice(%a: w) -> w {
entry:
    %b: w = shl %a, 1:w
    return %b
}
"""


def _matrix(n: int) -> list[Any]:
    random = Random(n)
    return [n, 3, np.array([random.randrange(-9, 9) for _ in range(3 * n + 8)], np.int32)]


@pytest.mark.parametrize("machine", members())
@pytest.mark.parametrize("spl", ("always", "never"))
def test_a_loop_within_a_loop(machine: str, spl: Ratio) -> None:
    for phasing in (True, False):
        program, facts = specialize(read_genasm(NESTED), member(machine, phasing), spl=spl, effort=0.1)
        data = comparing.belt_file.write(program, comparing.NAMELESS)
        assert facts[0].pipelined == (spl == "always")
        for n in (0, 1, 2, 5):
            comparing.check_run(read_genasm(NESTED), data, _matrix(n))


def test_hidden_names_are_read_back() -> None:
    program, _ = specialize(wide(True), member("gold"), spl="always", effort=0.1)
    text = print_program(program, comparing.NAMELESS)
    assert read(text)[0] == program
