# SPDX-License-Identifier: Apache-2.0
"""Order of stages beyond L1: products are added up as they come, where L1 does not hold all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom.frontend.source import Options as Reading
from polyloom.targets.subject import Written
from polyloom.targets.tensix.map.loops.dram.column_blocks import page_stages
from polyloom.targets.tensix.map.loops.dram.lack_of_room import maximum_live_arrays
from polyloom.targets.tensix.map.loops.dram.stage_schedule import schedule_stages
from polyloom.targets.tensix.map.loops.form import FORM
from polyloom.targets.tensix.map.loops.fused.plan import Stage, plan_stages
from polyloom.targets.tensix.options import Options


def part(x: Any, w: Any, n: int) -> Any:
    return np.maximum(x[:, 32 * n : 32 * n + 32] @ w[32 * n : 32 * n + 32], 0)


@pl.kernel
def parts(x: pl.f32[192, 384], w: pl.f32[384, 256]) -> Any:
    """Twelve products of 197,376 bytes each."""
    # The first four are added up at last.
    last = part(x, w, 0) + part(x, w, 1) + part(x, w, 2) + part(x, w, 3)
    more = part(x, w, 4) + part(x, w, 5) + part(x, w, 6) + part(x, w, 7)
    return last + more + (part(x, w, 8) + part(x, w, 9) + part(x, w, 10) + part(x, w, 11))


def planned(kernel: Any) -> tuple[list[Stage], frozenset[str]]:
    content: Any = FORM.load(Written(kernel, Reading()), None, Options()).content
    return plan_stages(content, {}), frozenset(output.definition for output in content.program.outputs)


def test_sums_come_as_soon_as_they_free_their_terms() -> None:
    stages, kept = planned(parts)
    scheduled = schedule_stages(stages, kept)
    assert page_stages(stages, kept, 0x8000) is None and page_stages(scheduled, kept, 0x8000) is not None
    assert maximum_live_arrays(scheduled, kept).size < maximum_live_arrays(stages, kept).size
    # The same stages, each behind those whose results it reads.
    assert {stage.result.key for stage in scheduled} == {stage.result.key for stage in stages}
    results = [stage.result.key for stage in scheduled]
    for number, stage in enumerate(scheduled):
        assert {area.key for area in stage.reads} & {*results} <= {*results[:number]}


@pytest.mark.long
def test_a_scheduled_program_has_the_bits_of_the_tile() -> None:
    assert pl.compile(parts, on="tensix").run().verified
