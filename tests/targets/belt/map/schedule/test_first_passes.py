# SPDX-License-Identifier: Apache-2.0
"""Loops whose first passes would go wrong without care: what runs for iterations before 0 must do nothing, and what
iteration 0 reads from before the loop must be there."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from tests.in_turns import in_turns
from tests.targets.belt.map.schedule.comparing import check

from polyloom.targets.belt.machine import member, members
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module

LOOPS = {
    # The sum of an invariant counts passes, if the first ones are not kept from it.
    "invariant": """
        %t: w = add %s, %c
        %v: w = load w %x, %i * 4
        %m: w = mul %v, %t
        %u: w = xor %m, %s
        next %j, %t, %u""",
    # Neither address nor value of a store depends on the iteration.
    "constant_store": """
        %v: w = load w %x, %i * 4
        store w %y, 7:w
        %u: w = add %r, %v
        next %j, %s, %u""",
    # Values of two and three iterations before, from late stages.
    "chain": """
        %v: w = load w %x, %i * 4
        %m: w = mul %v, 3:w
        %t: w = sub %m, %r
        %u: w = add %s, 0:w
        store w %y, %i * 4, %t
        next %j, %t, %s""",
    "exchange": """
        %v: w = load w %x, %i * 4
        store w %y, %i * 4, %s
        next %j, %r, %s""",
    "twice": """
        %v: w = load w %x, %i * 4
        %t: w = add %s, %v
        %u: w = sub %t, %r
        store w %y, %i * 4, %u
        next %j, %t, %t""",
    "later_a_constant": """
        %v: w = load w %x, %i * 4
        %t: w = mul %v, %s
        %u: w = add %t, %r
        store w %y, %i * 4, %u
        next %j, 1000:w, %c""",
    "call": """
        %v: w = load w %x, %i * 4
        %t: w = call @f(%v, %s)
        %u: w = call @g()
        %z: w = add %u, %r
        next %j, %t, %z""",
    # A None that an iteration gives is no missing value.
    "carried_none": """
        %v: w = load w %x, %i * 4
        %p: b = gtrs %v, 0:w
        %t: w = pick %p, %v
        store w %y, %i * 4, %s
        %u: w = add %v, %r
        next %j, %t, %u""",
    "guarded": """
        %v: w = load w %x, %i * 4
        %p: b = gtrs %v, 0:w
        %a: w = pick %p, %y
        %t: w = pick %p, %s, %v
        store w %a + 4, %t
        next %j, %t, %v""",
}
TEXT = """
data @count align 4 00000000
function main(%n: w, %c: w, %x: w, %y: w) -> w, w {{
entry:
    jump body(0:w, %c, 5:w)
loop body(%i: w, %s: w, %r: w):
    %q: b = geqs %i, %n
    leavetr %q, done(%s, %r)
    %j: w = add %i, 1:w
{body}
done(%a1: w, %a2: w):
    return %a1, %a2
}}
function f(%p: w, %o: w) -> w {{
entry:
    %m: w = mul %p, %o
    return %m
}}
function g() -> w {{
entry:
    %a: w = load w @count
    %b: w = add %a, 1:w
    store w @count, %b
    return %b
}}
"""


def module(name: str) -> Module:
    body = LOOPS[name]
    text = TEXT.format(body=body)
    if name != "call":
        text = text.partition("function f")[0].replace("data @count align 4 00000000\n", "")
    return read_genasm(text)


def arguments(n: int) -> list[object]:
    random = Random(n)
    arrays = [np.array([random.randrange(-9, 9) for _ in range(n + 8)], np.int32) for _ in range(2)]
    return [n, 3, *arrays]


@pytest.mark.parametrize(("machine", "name"), in_turns(members(), tuple(LOOPS), 3))
def test_any_trip_count(name: str, machine: str) -> None:
    check(module(name), member(machine, True), arguments, solver="exact")
    check(module(name), member(machine, False), arguments, solver="torus")


@pytest.mark.parametrize("name", [name for name in LOOPS if name != "carried_none"])
def test_pipelined_on_silver(name: str) -> None:
    facts = check(module(name), member("silver"), arguments)
    assert facts.pipelined, facts
    assert facts.initiation_interval is not None
    assert facts.initiation_interval <= 2 * facts.minimum_initiation_interval
