# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: cycles of loops over tiles, of reductions, messages and barriers are those of the silicon
within what is asked. Host seconds are measured, not tested."""

from __future__ import annotations

import pytest

from polyloom.cli.bench import minion

ASKED = {
    "cycles an operation": 3,
    "allreduce": 5,
    "barrier": 5,
    "pairs": 5,
    "a register": 5,
}
"""How far the model may be off, in percent."""


def off(measure: minion.Measure) -> float:
    return abs(100 * (measure.model() / measure.silicon - 1))


def asked(measure: minion.Measure) -> int | None:
    return next((most for key, most in ASKED.items() if key in (measure.unit, measure.what[: len(key)])), None)


CHECKED = [measure for measure in minion.measures() if asked(measure) and "1,024" not in measure.what]


@pytest.mark.parametrize("measure", CHECKED, ids=[measure.what for measure in CHECKED])
def test_the_model_takes_what_the_silicon_takes(measure: minion.Measure) -> None:
    most = asked(measure)
    assert most is not None
    assert off(measure) <= most


@pytest.mark.long
def test_a_whole_chip_too() -> None:
    for measure in minion.measures():
        if most := asked(measure):
            assert off(measure) <= most, measure.what
