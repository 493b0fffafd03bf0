# SPDX-License-Identifier: Apache-2.0
"""The checker and the enumeration of all total orders agree on random programs: states, and the number of executions of
each side."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.riscv.rvwmo.oracle import Barrier, Item, Kind, Op, Program, outcomes, text

from polyloom.riscv.rvwmo import check_text

SETS = ("r", "w", "rw")
KINDS: tuple[Kind, ...] = ("load", "load", "store", "store", "amo", "lr", "sc")


@st.composite
def programs(draw: DrawFn) -> Program:
    """Two or three harts with five memory operations in all."""
    sizes = draw(st.sampled_from([(2, 2), (2, 3), (3, 2), (1, 4), (1, 2, 2), (2, 1, 2), (4, 1)]))
    return tuple(draw(harts(hart, size)) for hart, size in enumerate(sizes))


@st.composite
def harts(draw: DrawFn, hart: int, size: int) -> tuple[Item, ...]:
    items: list[Item] = []
    control: tuple[int, ...] = ()
    for number in range(size):
        if number and draw(st.integers(0, 3)) == 0:
            items.append(Barrier(draw(st.sampled_from(SETS)), draw(st.sampled_from(SETS)), draw(st.booleans())))
        returning = [n for n, item in enumerate(items) if isinstance(item, Op) and item.kind in ("load", "amo", "lr")]
        if returning and draw(st.integers(0, 3)) == 0:
            control = (*control, draw(st.sampled_from(returning)))
        items.append(draw(operations(10 * hart + number + 1, returning, tuple(dict.fromkeys(control)))))
    return tuple(items)


@st.composite
def operations(draw: DrawFn, value: int, returning: list[int], control: tuple[int, ...]) -> Op:
    kind = draw(st.sampled_from(KINDS))
    location = draw(st.sampled_from("xxyyz"))
    earlier = st.none() if not returning else st.one_of(st.none(), st.sampled_from(returning))
    aq, rl = draw(st.sampled_from([(False, False)] * 4 + [(True, False), (False, True), (True, True)]))
    if kind in ("load", "lr"):
        return Op(kind, location, aq=aq, rl=rl, address=draw(earlier), control=control)
    copies = draw(earlier)
    data = draw(earlier) if copies is None else None
    return Op(kind, location, value, aq, rl, draw(earlier), data, control, copies)


@given(programs())
def test_agrees(program: Program) -> None:
    expected = outcomes(program)
    verdict = check_text(text(program))
    assert verdict.states == tuple(sorted(expected))
    inside = sum(number for state, number in expected.items() if "[x]=1;" in state)
    assert (verdict.positive, verdict.negative) == (inside, sum(expected.values()) - inside)
    unobserved = check_text("\n".join(line for line in text(program).splitlines() if not line.startswith("locations")))
    assert (unobserved.positive, unobserved.negative) == (verdict.positive, verdict.negative)


@pytest.mark.parametrize("dependent", [False, True])
def test_rule_12_across_locations(dependent: bool) -> None:
    """A load that is forwarded from a store comes after what the store's data depend on, also where another location
    comes between."""
    writer: tuple[Item, ...] = (Op("store", "x", 1), Barrier("w", "w"), Op("store", "y", 1))
    reader: tuple[Item, ...] = (
        Op("load", "y"),
        Op("store", "z", 1, data=0 if dependent else None),
        Op("load", "z"),
        Op("load", "x", address=2),
    )
    program = (writer, reader, (Op("store", "z", 2),))
    expected = outcomes(program)
    assert check_text(text(program)).states == tuple(sorted(expected))
    assert any("1:x10=1; 1:x12=1; 1:x13=0;" in state for state in expected) is not dependent
