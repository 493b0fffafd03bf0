# SPDX-License-Identifier: Apache-2.0
"""The random loops that other tests stand on are what they say, print and read back, and run."""

from __future__ import annotations

from collections import Counter
from random import Random

from tests.targets.belt.generate import draw

from polyloom.targets.belt.source.genasm import print_genasm
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.interpret import interpret
from polyloom.targets.belt.source.ir_verify import verify


def test_drawn_loops_are_well_formed_print_and_read_back_and_run() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        case = draw(Random(seed))
        module = verify(case.module)
        assert read_genasm(print_genasm(module)) == module
        for n in (0, 1, 5):
            outcome = interpret(module, case.arguments(n, Random(seed)), 10_000)
            assert all(isinstance(lane, int) for lanes in outcome.results for lane in lanes)
            seen[f"{outcome.counts.get(('drawn', 'body'), 0)} iterations"] += 1
        seen[f"{sum(op.edge is not None for op in case.loop.ops)} exits"] += 1
        seen |= {f"distance {order.distance}": 1 for order in case.loop.order}
    assert {"1 exits", "2 exits", "3 exits", *(f"distance {d}" for d in range(13))} <= set(seen)
    assert seen["6 iterations"] > 10
