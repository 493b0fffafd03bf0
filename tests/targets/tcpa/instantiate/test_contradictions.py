# SPDX-License-Identifier: Apache-2.0
"""What comes from a file is the file's fault: what `verify` calls valid instantiates, or names a limit, or ends in exit
1 that names the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.fuzz import damage
from tests.targets.tcpa.end_to_end.test_examples import mapped

from polyloom import api
from polyloom.diagnostics import INFEASIBLE, INPUT, INTERNAL, USAGE, PolyloomError
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.run.phases import descriptions
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.symbolic import Row, Symbolic

SEEDS = (("bits", "paper"), ("fir", "unit"), ("matvec", "wide"))
REGIONS = ((1, 1), (1, 3), (2, 2), (3, 2))


def _candidates(symbolic: Symbolic, **changes: object) -> Symbolic:
    return replace(symbolic, candidates=tuple(replace(c, **changes) for c in symbolic.candidates))  # pyright: ignore[reportArgumentType]


def _first_extent(symbolic: Symbolic, row: Callable[[Row], Row]) -> Symbolic:
    first, *rest = symbolic.extents
    bound = first.upper[0]
    changed = replace(bound, guards=(*bound.guards, row(bound.numerator)))
    return replace(symbolic, extents=(replace(first, upper=(changed, *first.upper[1:])), *rest))


def _sloping(row: Row) -> Row:
    return replace(row, dims=(1, *row.dims[1:]))


def _schedule(symbolic: Symbolic, **changes: object) -> Symbolic:
    return replace(symbolic, schedules=tuple(replace(s, **changes) for s in symbolic.schedules))  # pyright: ignore[reportArgumentType]


def cases() -> dict[str, Symbolic]:
    fir = mapped("fir", "unit")
    nodes = len(fir.nodes)
    return {
        "a bound guarded by a loop dimension": _first_extent(fir, _sloping),
        "a shape of a loop dimension": replace(
            fir, arrays=(replace(fir.arrays[0], shape=(_sloping(fir.arrays[0].shape[0]),)), *fir.arrays[1:])
        ),
        "a domain of a loop dimension": replace(fir, assumptions=((Row((1, 0), (0, 0), 0),),)),
        "one name for two parameters": replace(fir, parameters=("N",) * len(fir.parameters)),
        "no candidate": replace(fir, candidates=()),
        "no schedule": replace(fir, schedules=(), bottlenecks=(), candidates=()),
        "an interval of 0": _schedule(fir, initiation_interval=0),
        "one register for two inputs": _candidates(fir, input_registers=(0,) * len(fir.inputs)),
        "two operations in one slot": _schedule(fir, tau=(0,) * nodes, unit=tuple(0 for _ in range(nodes))),
        "a latency of its own": _schedule(fir, latency=(9,) * nodes),
        "a register that does not exist": _candidates(
            fir, input_registers=tuple(200 + n for n in range(len(fir.inputs)))
        ),
        "limits of its own": replace(fir, limits=replace(fir.limits, control_signals=7)),
    }


@pytest.mark.parametrize("name", cases())
def test_verify_says_what_is_wrong(name: str, golden: Golden) -> None:
    data = symbolic_file.encode(cases()[name])
    try:
        found = program.verify(data, None)
    except PolyloomError as error:
        found = error.diagnostics
    assert found
    assert {d.exit_code for d in found} == {INPUT}
    golden(f"contradiction_{name.replace(' ', '_')}", "\n\n".join(d.render() for d in found[:2]))


def test_instantiation_blames_the_file(golden: Golden) -> None:
    """Where the compiler's own mapping would be reported as its defect."""
    data = symbolic_file.encode(cases()["one register for two inputs"])
    loaded = api.decode("mine.plsc", data)
    assert isinstance(loaded, api.Compiled)
    with pytest.raises(PolyloomError) as error:
        loaded.instantiate(N=4, T=3, pes=(1, 2))
    assert (error.value.code, error.value.exit_code) == ("PL0530", INPUT)
    golden("contradiction_of_a_file", str(error.value))
    with pytest.raises(PolyloomError) as error:
        replace(loaded, path=None).instantiate(N=4, T=3, pes=(1, 2))
    assert error.value.exit_code == INTERNAL


@pytest.mark.parametrize(("name", "member"), SEEDS)
def test_what_the_compiler_makes_is_valid(name: str, member: str) -> None:
    assert program.verify(symbolic_file.encode(mapped(name, member)), None) == ()


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1))
def test_what_is_valid_instantiates(seed: int) -> None:
    random = Random(seed)
    data = damage.of_values(symbolic_file.encode(mapped(*random.choice(SEEDS))), random)
    try:
        loaded = api.decode("damaged.plsc", data)
        valid = not descriptions.verify(data, None)
    except PolyloomError:
        return
    assert isinstance(loaded, api.Compiled)
    for region in REGIONS:
        values = {p: random.choice((0, 1, 2, 3, 5, 9, 30)) for p in loaded.parameters}
        try:
            made = loaded.instantiate(values, pes=region)
        except PolyloomError as error:
            assert error.exit_code in (INPUT, USAGE, INFEASIBLE), error
            named = error.exit_code == INFEASIBLE or error.code in ("PL0230", "PL0505") or "damaged.plsc" in str(error)
            assert not valid or named, error
            continue
        found = descriptions.verify(made.data, None)
        assert all(d.exit_code == INPUT for d in found)
