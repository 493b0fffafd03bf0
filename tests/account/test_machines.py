# SPDX-License-Identifier: Apache-2.0
"""Accounts of all machines: the classes sum to units times cycles, the lines agree with what the trace counts, and an
account of counts that are wrong is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import polyloom as pl
from polyloom.riscv.source_lines import Lines
from polyloom.run.instance import Result
from polyloom.targets.account import Account
from polyloom.targets.minion.run import account as minion
from polyloom.targets.tensix.run import account as tensix

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
PLACES: Mapping[str, Mapping[str, int]] = {
    "tcpa:2x2": {"NI": 4, "NJ": 5, "NK": 3},
    "belt": {"NI": 4, "NJ": 5, "NK": 3},
    "riscv": {"NI": 4, "NJ": 5, "NK": 3},
    "riscv:inorder": {"NI": 4, "NJ": 5, "NK": 3},
    "tensix": {"NI": 32, "NJ": 32, "NK": 32},
    "minion:2": {"NI": 16, "NJ": 16, "NK": 16},
}


@cache
def ran(place: str) -> Result:
    return run("gemm.py", place, PLACES[place])


def run(kernel: str, place: str, sizes: Mapping[str, int]) -> Result:
    """Run with everything that there is to record."""
    compiled = pl.compile(str(KERNELS / kernel), on=place)
    instance = compiled.prepare_instance(sizes, {})
    given = (
        {}
        if instance.parameters is not None
        else {n: v for n, v in sizes.items() if n in instance.signature.parameters}
    )
    return instance.measure(given, trace=True, account=True, fill="random")


def account_of(result: Result) -> Account:
    assert result.account is not None
    return result.account


@pytest.mark.parametrize("place", PLACES)
def test_the_classes_sum_to_units_times_cycles(place: str) -> None:
    found, result = account_of(ran(place)), ran(place)
    assert sum(found.categories.values()) == found.units * found.cycles > 0
    # Where no time is modelled, instructions pass.
    assert found.cycles == (result.execution.operations if result.cycles is None else result.cycles)
    assert found.counts == ("instructions" if result.cycles is None else "cycles")
    assert found.hottest == 19
    assert next(iter(found.loops)) == "j (lines 18 to 19)"
    assert found.advice
    assert result.data["bound_by"]


def counted_lines(result: Result) -> Counter[int]:
    """Spans of units by line: what the trace counts, apart from the account. A word for the packers has a span for each
    of them, and none for the unit."""
    spans = [s for s in result.trace.spans if s.group not in ("cores", "threads") and not s.lane.startswith("packer")]
    told = (dict(span.arguments).get("source", "") for span in spans)
    return Counter(int(source.rpartition(":")[2]) for source in told if ":" in source)


@pytest.mark.parametrize("place", ["tcpa:2x2", "riscv", "riscv:inorder", "tensix"])
def test_work_by_line_is_what_the_trace_counts(place: str) -> None:
    found = account_of(ran(place))
    work = Counter[int]()
    for row in found.rows:
        if row.category == "work" and row.line and row.detail not in _FREE:
            work[row.line] += row.unit_cycles
    assert work == counted_lines(ran(place))


_FREE = ("pack",)
"""Kinds of work whose spans are those of packers."""


def test_instructions_of_harts_are_work() -> None:
    found, result = account_of(ran("minion:2")), ran("minion:2")
    # A gather holds issue for longer; this program has none.
    assert found.categories["work"] == result.data["instructions"]


def test_the_belt_counts_slots() -> None:
    found, result = account_of(ran("belt")), ran("belt")
    issued = sum(n for category, n in found.categories.items() if category in ("work", "front", "memory"))
    assert issued == result.execution.operations


def test_an_account_is_only_made_when_it_is_asked_for() -> None:
    compiled = pl.compile(str(KERNELS / "gemm.py"), on="riscv").prepare_instance({}, {})
    result = compiled.measure(dict(PLACES["riscv"]), fill="random")
    assert result.execution.counted is None
    assert "account" not in result.data
    # Asked for afterwards, the run is repeated.
    assert result.account == account_of(ran("riscv"))


def test_wrong_counts_are_refused() -> None:
    """A count too many of a thread or of a hart, and the account has more than there are cycles."""
    tally = ((0, 4, 0, 90), (0, 62, 0, 10))
    assert tensix.account(tensix.CycleCounts((tally,)), 100, Lines()).unit_cycles == 100
    with pytest.raises(ValueError, match="unit-cycles"):
        tensix.account(tensix.CycleCounts(((*tally, (0, 5, 0, 1)),)), 100, Lines())
    passed = (0, 0x1000, 60, 0, 10, ())
    assert minion.account(minion.CycleCounts((passed,), (70, 0)), 100, {}, Lines()).unit_cycles == 200
    with pytest.raises(ValueError, match="unit-cycles"):
        minion.account(minion.CycleCounts((passed, passed), (70, 0)), 100, {}, Lines())
