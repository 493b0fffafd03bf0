# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: cycles of loops over tiles, of reductions, messages and barriers are those of the silicon
within what is asked. Host seconds are measured, not tested."""

from __future__ import annotations

import pytest

from polyloom.cli.bench import minion
from polyloom.cli.bench import minion_memory as memory
from polyloom.cli.bench.minion_tables import short

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


@pytest.mark.parametrize("row", memory.blind_rows(), ids=[row.what for row in memory.blind_rows()])
def test_rows_that_nothing_was_fitted_to(row: minion.Measure) -> None:
    """Those of chains are within 2 %; that of rows is whole cycles, and a neighbourhood's rate is `about 50`."""
    assert row.model() == pytest.approx(row.silicon, rel=0.02 if "chain" in row.what else 0.06, abs=1.5)


@pytest.mark.parametrize(
    ("element", "resident"),
    [("i8", True), ("i8", False), *(pytest.param(e, False, marks=pytest.mark.long) for e in ("f16", "f32"))],
)
def test_predictions_of_products(element: str, resident: bool) -> None:
    figures = minion.product_figures(minion.Product(element, (512, 512, 512), resident, {}))
    assert figures["predicted_cycles"] == pytest.approx(figures["cycles"], rel=0.1)


@pytest.mark.parametrize("size", [64, *(pytest.param(n, marks=pytest.mark.long) for n in (96, 128, 192, 256))])
@pytest.mark.parametrize("element", short.ELEMENTS)
def test_predictions_of_short_products(element: str, size: int) -> None:
    """None of these was among the products that the weights were fitted to."""
    cycles, predicted, _ = short.measure(element, size, minion.CHIP, every=False)
    assert predicted == pytest.approx(cycles, rel=0.12 if (element, size) == ("f16", 256) else 0.1)


def assert_near_best(element: str, size: int, tried: tuple[int, ...]) -> None:
    chosen, best, ratio = short.short_rows(element, size, tried)
    assert ratio["model"] <= 1.05, (chosen, best)  # type: ignore[operator]


@pytest.mark.parametrize("element", short.ELEMENTS)
def test_as_many_minions_as_pay(element: str) -> None:
    assert_near_best(element, 64, (32, 128, 512, 1024))


@pytest.mark.long
@pytest.mark.parametrize("size", short.SIZES)
@pytest.mark.parametrize("element", short.ELEMENTS)
def test_as_many_minions_as_pay_of_all(element: str, size: int) -> None:
    assert_near_best(element, size, short.TRIED)


@pytest.mark.long
def test_a_whole_chip_too() -> None:
    for measure in minion.measures():
        if most := asked(measure):
            assert off(measure) <= most, measure.what
