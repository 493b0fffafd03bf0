# SPDX-License-Identifier: Apache-2.0
"""Propagation channels: the paper's figure, enumeration on small wrappers, messages, and the checker against
sabotage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.channel_routing import Demand, check_routes, route
from polyloom.targets.tcpa.words.symbolic import Port, Route

SIDES = ("north", "east", "south", "west")
NEIGHBOURS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


def machine(
    channels: int | None = None, registers: int | None = None, adjacency: tuple[tuple[str, str], ...] | None = None
) -> Machine:
    return Machine(
        name="test",
        units=(),
        destinations=6,
        general_registers=None,
        feedback_registers=None,
        input_registers=registers,
        output_registers=registers,
        fifo_depth=None,
        instruction_words=None,
        branch_flags=3,
        channels=channels,
        adjacency=adjacency,
        hop_delay=0,
        control_signals=None,
        signal_sets=None,
        half_spaces=True,
        counter_bits=32,
        generator_dimensions=None,
        delay_bits=32,
        bank_words=None,
    )


def text(r: Route) -> str:
    return " ".join([f"od{r.output}", *(f"{h.location}{h.index}" for h in r.hops), f"id{r.input}"])


def routed(m: Machine, *demands: Demand) -> list[str]:
    return [text(r) for r in route(m, demands)]


def test_the_running_example_of_the_paper() -> None:
    assert routed(machine(20, 16), Demand((0, 1), 0)) == ["od0 east0 id0"]


def test_figure_4_of_the_paper_shares_a_prefix() -> None:
    assert routed(machine(1, 2), Demand((0, 1), 0), Demand((1, 1), 0)) == ["od0 east0 id0", "od0 east0 south0 id1"]


def test_unlike_values_are_disjoint() -> None:
    assert routed(machine(2, 2), Demand((0, 1), 0), Demand((1, 1), 1)) == ["od0 east0 id0", "od1 east1 south0 id1"]
    assert route(machine(), ()) == ()


def test_all_neighbours_at_once_in_the_order_of_the_demands() -> None:
    assert routed(machine(20, 16), *(Demand(d, n) for n, d in enumerate(NEIGHBOURS))) == [
        "od0 west0 north0 id0",
        "od1 north1 id1",
        "od2 east0 north2 id2",
        "od3 west1 id3",
        "od4 east1 id4",
        "od5 west2 south0 id5",
        "od6 south1 id6",
        "od7 east2 south2 id7",
    ]


def test_detours_where_adjacency_asks_for_them() -> None:
    bent = (("pe0", "east0"), ("west0", "south0"), ("north0", "west0"), ("east0", "pe0"))
    assert routed(machine(1, 1, bent), Demand((1, 0), 0)) == ["od0 east0 south0 west0 id0"]


ALL_PORTS = [f"{side}0" for side in SIDES]
PAIRS = [(a, b) for a in ["pe0", "pe1", *ALL_PORTS] for b in ["pe0", "pe1", *ALL_PORTS] if not (a[:2] == "pe" == b[:2])]
STEP = {"east": (0, 1), "west": (0, -1), "south": (1, 0), "north": (-1, 0)}
BACK = {"east": "west", "west": "east", "south": "north", "north": "south"}


def paths(pairs: set[tuple[str, str]], goal: tuple[int, int], longest: int) -> Iterator[tuple[str, ...]]:
    """Simple paths od -> sink ports -> id of the given displacement, as names, shortest first."""
    frontier: list[tuple[tuple[str, ...], str, tuple[int, int]]] = [((od,), od, (0, 0)) for od in ("pe0", "pe1")]
    for _ in range(longest + 1):
        for path, here, at in frontier:
            yield from ((*path, i) for i in ("pe0", "pe1") if at == goal and len(path) > 1 and (here, i) in pairs)
        frontier = [
            ((*path, sink), BACK[sink[:-1]] + sink[-1], (at[0] + STEP[sink[:-1]][0], at[1] + STEP[sink[:-1]][1]))
            for path, here, at in frontier
            for sink in ALL_PORTS
            if (here, sink) in pairs and sink not in path[1:]
        ]


def coexist(one: tuple[str, ...], other: tuple[str, ...], same: bool) -> bool:
    """Whether two paths may be configured together: disjoint, but for a common prefix of one value."""
    shared = 0
    while same and shared < min(len(one), len(other)) - 1 and one[shared] == other[shared]:
        shared += 1
    apart = not set(one[max(1, shared) : -1]) & set(other[max(1, shared) : -1]) and not set(one[1:shared]) & set(
        other[shared:-1]
    )
    return apart and one[-1] != other[-1] and (one[0] == other[0]) == same


@settings(max_examples=30)
@given(
    st.sets(st.sampled_from(PAIRS), min_size=10),
    st.sampled_from(NEIGHBOURS),
    st.sampled_from(NEIGHBOURS),
    st.booleans(),
)
def test_restricted_wrappers_agree_with_enumeration(
    pairs: set[tuple[str, str]], one: tuple[int, int], other: tuple[int, int], same: bool
) -> None:
    m = machine(1, 2, tuple(sorted(pairs)))
    demands = Demand(one, 0), Demand(other, 0 if same else 1)
    possible = [
        len({("a", *a[1:k]) for k in range(2, len(a))} | {("a" if same else "b", *b[1:k]) for k in range(2, len(b))})
        for a in paths(pairs, one, sum(map(abs, one)))
        for b in paths(pairs, other, sum(map(abs, other)))
        if coexist(a, b, same)
    ]
    longer = possible or any(coexist(a, b, same) for a in paths(pairs, one, 4) for b in paths(pairs, other, 4))
    try:
        routes = route(m, demands)
    except PolyloomError as error:
        assert error.exit_code == 3
        assert not longer
        return
    assert longer or max(len(r.hops) for r in routes) > 4
    if possible:
        used = {(d.value, *r.hops[:k]) for d, r in zip(demands, routes, strict=True) for k in range(1, len(r.hops) + 1)}
        assert len(used) == min(possible)


@settings(max_examples=25)
@given(
    st.lists(st.builds(Demand, st.sampled_from(NEIGHBOURS), st.integers(0, 2)), min_size=1, max_size=4),
    st.integers(1, 2),
)
def test_a_list_of_all_pairs_routes_what_no_list_does(demands: list[Demand], channels: int) -> None:
    ports = [f"{side}{n}" for side in SIDES for n in range(channels)]
    pes = [f"pe{n}" for n in range(4)]
    every = tuple((a, b) for a in [*pes, *ports] for b in [*pes, *ports] if not (a in pes and b in pes))

    def hops(m: Machine) -> int | str:
        try:
            routes = route(m, tuple(demands))
        except PolyloomError as error:
            return error.diagnostics[0].code
        return len({(d.value, h) for d, r in zip(demands, routes, strict=True) for h in r.hops})

    assert hops(machine(channels, 4)) == hops(machine(channels, 4, every))


@pytest.mark.parametrize(
    ("m", "demands", "message"),
    [
        (
            machine(1, 4),
            (Demand((0, 1), 0), Demand((1, 1), 1), Demand((0, 1), 2)),
            "error[PL0462]: propagation channels need 3 channels per side, the machine has 1\nnote: 3 values must pass "
            "east\n"
            "note: 1 value must pass south\nhelp: set channels = 3 or more in the machine description (2 more)",
        ),
        (
            machine(4, 1),
            (Demand((0, 1), 0), Demand((1, 1), 1)),
            "error[PL0460]: propagation channels need 2 output registers per element, the machine has 1\n"
            "help: set output_registers = 2 or more in the machine description (1 more)",
        ),
        (
            machine(4, 1),
            (Demand((0, 1), 0), Demand((1, 1), 0)),
            "error[PL0461]: propagation channels need 2 input registers per element, the machine has 1\n"
            "help: set input_registers = 2 or more in the machine description (1 more)",
        ),
        (
            machine(1, 1, (("pe0", "east0"), ("west0", "pe0"))),
            (Demand((-1, 0), 0),),
            "error[PL0463]: the wrapper's adjacency has no path for a value to the element one step north\n"
            "help: add (pe0, north0), (south0, pe0) to adjacency in the machine description",
        ),
        (
            machine(1, 2, (("pe0", "east0"), ("west0", "pe0"), ("north0", "pe1"))),
            (Demand((0, 1), 0), Demand((1, 1), 0)),
            "error[PL0463]: the wrapper's adjacency has no path for a value to the element one step east and one step "
            "south\n"
            "help: add (west0, south0) to adjacency in the machine description",
        ),
    ],
)
def test_messages_name_what_is_short_and_the_smallest_change(
    m: Machine, demands: tuple[Demand, ...], message: str
) -> None:
    with pytest.raises(PolyloomError) as caught:
        route(m, demands)
    assert caught.value.exit_code == 3
    assert str(caught.value) == message


def test_the_checker_notices_every_sabotage() -> None:
    m = machine(2, 3)
    demands = Demand((0, 1), 0), Demand((1, 1), 0), Demand((0, 1), 1)
    a, b, c = route(m, demands)
    check_routes(m, demands, (a, b, c))
    east0, south0 = Port("east", 0), Port("south", 0)
    for wrong in (
        (a, b),
        (a, b, replace(c, output=0)),
        (a, b, replace(c, input=a.input)),
        (a, b, replace(c, hops=(east0,))),
        (a, b, replace(c, hops=(Port("east", 2),))),
        (a, b, replace(c, output=3)),
        (a, b, replace(c, hops=(Port("west", 0),))),
        (a, b, replace(c, displacement=(1, 0))),
        (a, replace(b, output=2), c),
        (a, replace(b, hops=(south0, east0)), c),
        (replace(a, hops=(east0, Port("west", 1), Port("east", 1))), b, c),
    ):
        with pytest.raises(PolyloomError) as caught:
            check_routes(m, demands, wrong)
        assert caught.value.exit_code == 70
    with pytest.raises(PolyloomError):
        check_routes(replace(m, adjacency=(("pe0", "east0"),)), demands, (a, b, c))


def test_far_displacements_are_refused() -> None:
    with pytest.raises(ValueError, match="beyond"):
        route(machine(), (Demand((0, 2), 0),))
