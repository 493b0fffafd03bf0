# SPDX-License-Identifier: Apache-2.0
"""The model's Python face on the paper's example: results, traces, several configurations at once, and every kind of
refusal."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tcpa.model.configurations import BITS, DATA, FULL, MACHINE, box

from polyloom import api
from polyloom._native import tcpa
from polyloom.binary import CHECKED, fletcher64
from polyloom.cli.examples import folder
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, ElementProgram

WORD = 0xA5C3


def _inputs(word: int = WORD) -> dict[str, Any]:
    return {"in": np.array(word, np.int32)}


def _bits(word: int) -> list[int]:
    return [word >> i & 1 for i in range(16)]


@given(st.integers(-(1 << 31), (1 << 31) - 1))
def test_bits_of_any_word(word: int) -> None:
    assert model.run(DATA, MACHINE, _inputs(word)).outputs["bits"].tolist() == _bits(word)


def test_cycles_and_counts() -> None:
    result = model.run(DATA, MACHINE, _inputs())
    assert (result.cycles, result.operations, result.first_issue, result.issues) == (34, 48, 0, (16, 32))
    assert result.high_water == (model.Occupancy((1,), (1,)),) * 2
    assert result.outputs["bits"].dtype == np.int32


def test_trace_tells_every_operation() -> None:
    trace = model.run(DATA, MACHINE, _inputs(), trace=True).trace
    assert trace is not None
    assert len(trace.cycle) == 48
    assert (np.diff(trace.cycle) >= 0).all()
    moves = (trace.unit == 0) & (trace.element == 1)
    assert trace.cycle[moves].tolist() == [12, 14, 16, 18, 20, 22]
    assert trace.value[moves].tolist() == [WORD >> i for i in range(6, 12)]


def test_together_as_alone() -> None:
    placements = [
        model.Placement(DATA, row, 3 * column, _inputs(7 * row + column)) for row in range(2) for column in range(2)
    ]
    for placement, result in zip(placements, model.run_side_by_side(placements, MACHINE, 2, 6), strict=True):
        alone = model.run(DATA, MACHINE, placement.inputs)
        assert result.outputs["bits"].tolist() == alone.outputs["bits"].tolist()
        assert replace(result, outputs={}) == replace(alone, outputs={})


def _together(row: int, column: int) -> object:
    return model.run_side_by_side(
        [model.Placement(DATA, 0, 0, _inputs()), model.Placement(DATA, row, column, _inputs())], MACHINE, 2, 5
    )


def _edited(**changes: Any) -> object:
    return model.run(concrete_file.encode(replace(BITS, **changes)), MACHINE, _inputs())


def _with_depth(depth: int) -> Concrete:
    return replace(BITS, classes=(replace(FULL, feedback_depths=(depth,)), BITS.classes[1]))


REFUSALS: dict[str, Callable[[], object]] = {
    "missing": lambda: model.run(DATA, MACHINE, {}),
    "unknown": lambda: model.run(DATA, MACHINE, {**_inputs(), "inn": np.zeros((), np.int32)}),
    "shape": lambda: model.run(DATA, MACHINE, {"in": np.zeros(1, np.int32)}),
    "type": lambda: model.run(DATA, MACHINE, {"in": np.zeros((), np.float32)}),
    "machine": lambda: model.run(DATA, machine_file.load("unit"), _inputs()),
    "overlap": lambda: _together(0, 2),
    "outside": lambda: _together(1, 3),
    "truncated": lambda: model.run(DATA[:-8], MACHINE, _inputs()),
    "altered": lambda: model.run(DATA[:60] + b"\x01" + DATA[61:], MACHINE, _inputs()),
    "overflow": lambda: model.run(concrete_file.encode(_with_depth(0)), MACHINE, _inputs()),
    "underflow": lambda: _edited(generators=(replace(BITS.generators[0], delay=1), *BITS.generators[1:])),
    "stray": lambda: _edited(generators=(*BITS.generators[:-1], replace(BITS.generators[-1], domain=box(0, 2)))),
    "twice": lambda: _edited(generators=(*BITS.generators[:-1], replace(BITS.generators[-1], base=0))),
    "class": lambda: _edited(classes=(FULL, ElementProgram((), (), ()))),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_say_what_to_do(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as refusal:
        REFUSALS[name]()
    assert refusal.value.exit_code == 1
    golden(name, str(refusal.value))


@given(st.data())
def test_no_bytes_crash_the_loader(data: st.DataObject) -> None:
    """What the native loader takes, the Python decoder takes too, or the model refuses it as an error in the file."""
    damaged = bytearray(DATA)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(CHECKED, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    damaged[8:16] = fletcher64(bytes(damaged[CHECKED:])).to_bytes(8, "little")
    try:
        tcpa.Config(bytes(damaged))
    except ValueError:
        with pytest.raises(PolyloomError):
            model.run(bytes(damaged), MACHINE, _inputs())


def test_a_signal_ends_a_run() -> None:
    """Hours otherwise: what the handler raises, as Ctrl-C does, comes out of the model."""
    instance = api.compile(folder() / "jacobi1d.pla", "tcpa:unit:1x1").instantiate(T=60000, N=60000)

    def end(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            instance.measure({})
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_run_tells_how_much_is_done() -> None:
    """By cycles; what the one who is told raises ends the run."""
    instance = api.compile(folder() / "jacobi1d.pla", "tcpa:unit:1x1").instantiate(T=60000, N=60000)
    told: list[tuple[str, float]] = []

    def tell(step: str, fraction: float) -> None:
        told.append((step, fraction))
        if len(told) == 5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        instance.measure({}, progress=tell)
    assert {step for step, _ in told} == {"running"}
    assert [f for _, f in told] == sorted({f for _, f in told}) and 0 < told[-1][1] < 1 / 3
