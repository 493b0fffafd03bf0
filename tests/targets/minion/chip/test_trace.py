# SPDX-License-Identifier: Apache-2.0
"""The trace of a run: each unit of a minion, and each hart's waits by what they are for; complete, or with a notice."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from polyloom._native.minion import Chip
from polyloom.targets.minion.run import events
from polyloom.targets.minion.run.model import Outcome
from polyloom.targets.minion.words import tensor_words
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.locate import Locator

from .machine import ARRAYS, ENTRY, FIRST_HARTS, MACHINE, START, Run, csr, load, load_b, run, wait

TILE = load(0, 16, ARRAYS) + load_b(16, ARRAYS) + wait(0) + csr(0x801, tensor_words.fma("fp32", first=True)) + wait(7)
Spans = list[tuple[int, int]]


def spans_of(done: Run, lane: str, minion: int = 0) -> Spans:
    track = events.TRACKS.index(lane)
    return sorted((s, e) for s, e, owner, t, _, _ in done.result["events"] if t == track and owner == minion)


def waits(done: Run, hart: int = 0) -> dict[str, int]:
    """Cycles by what for."""
    found = dict[str, int]()
    track = events.TRACKS.index(f"waits {hart & 1}")
    for start, end, owner, t, why, _ in done.result["events"]:
        if t == track and owner == hart >> 1:
            found[events.WAITS[why]] = found.get(events.WAITS[why], 0) + end - start
    return found


def test_a_scalar_loop_is_the_cores() -> None:
    done = run(FIRST_HARTS + "li t0, 1000\n1: addi t0, t0, -1\nbnez t0, 1b\n", trace=True)
    assert spans_of(done, "vector 0") == []
    (first, *_), total = spans_of(done, "core 0"), sum(e - s for s, e in spans_of(done, "core 0"))
    assert first[0] < 60 and total > 3500
    assert set(waits(done)) <= {"instruction cache", "result", "end of the pipeline"}


@pytest.mark.parametrize("dependent", [False, True])
def test_vector_instructions_are_the_vector_units(dependent: bool) -> None:
    adds = "".join(f"fadd.ps f{n % 8 + 1}, f{n % 8 + 9 * (not dependent)}, f20\n" for n in range(16))
    done = run(
        FIRST_HARTS + START + "mov.m.x m0, zero, 255\nli t1, 100\n1:\n" + adds + "addi t1, t1, -1\nbnez t1, 1b\n",
        trace=True,
    )
    busy = sum(e - s for s, e in spans_of(done, "vector 0"))
    assert busy > 0.8 * done.result["cycles"]
    assert (waits(done).get("result", 0) > 3000) is dependent


def test_what_a_hart_waits_for_is_named() -> None:
    text = (
        "".join(f"ld t1, {4096 * n}(a0)\nadd t1, t1, t1\n" for n in range(0))
        + f"li a0, {ARRAYS}\nld t1, 0(a0)\nadd t1, t1, t1\n"
    )
    text += "li t2, 7\ndiv t3, t2, t2\nadd t3, t3, t3\n"
    done = run(FIRST_HARTS + START + text + TILE, {ARRAYS: np.ones(256, np.float32)}, trace=True)
    found = waits(done)
    counters = done.result["counters"]
    assert found["load"] == counters["stall_load"] > 100
    assert found["FMA"] == counters["stall_fma"] > 400
    assert found["data of a load"] > 100 and found["result"] > 60


def test_barriers_credits_and_partners() -> None:
    send = csr(0x800, tensor_words.send(1, 4)) + wait(9)
    receive = "li t0, 500\n1: addi t0, t0, -1\nbnez t0, 1b\n" + csr(0x800, tensor_words.receive(0, 4)) + wait(9)
    credit = "li a1, 0x13ff400c0\nli a2, 1\nsd a2, 0(a1)\n"
    join = "li t0, 0x23\ncsrrw t1, flb, t0\n"
    text = f"{START}bnez s0, 2f\n{send}csrwi fcc, 0\n{join}j end\n2:\n{receive}{credit}{join}"
    done = run(FIRST_HARTS + text, minions=2, trace=True)
    assert done.result["stop"] == "passed"
    found = waits(done)
    assert found["reduce"] > 500 and found["credit"] > 20 and found["barrier"] > 20


def test_a_deadlock_shows_what_is_waited_for_to_the_end() -> None:
    """Minion 0 waits for a credit while minion 1 still works."""
    text = "bnez s0, 1f\ncsrwi fcc, 0\n1: li t0, 300\n1: addi t0, t0, -1\nbnez t0, 1b\n"
    done = run(FIRST_HARTS + text, minions=2, trace=True)
    assert done.result["stop"] == "deadlock"
    assert spans_of(done, "waits 0")[-1][1] == done.result["cycles"] > 900
    assert waits(done)["credit"] > 800


def straight(r: random.Random) -> str:
    """Instructions without a jump, whose operands come from any of those before."""
    lines = [f"li a0, {ARRAYS}", "mov.m.x m0, zero, 255"]
    for _ in range(120):
        d, a, b = (r.randrange(5, 8) for _ in range(3))
        of_data = f"{8 * r.randrange(64)}(a0)"
        lines.append(
            r.choice((
                f"add x{d}, x{a}, x{b}", f"mul x{d}, x{a}, x{b}", f"ld x{d}, {of_data}", f"sd x{d}, {of_data}",
                f"fadd.ps f{d}, f{a}, f{b}", f"fadd.pi f{d}, f{a}, f{b}", f"flw.ps f{d}, {of_data}",
            ))
        )  # fmt: skip
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("seed", range(8))
def test_every_cycle_of_a_hart_is_accounted_for(seed: int) -> None:
    """From the first instruction to the last: it issues, a vector instruction is under way, or it waits."""
    r = random.Random(seed)
    done = run(FIRST_HARTS + START + straight(r), {ARRAYS: np.ones(256, np.float32)}, trace=True)
    waited = spans_of(done, "waits 0")
    assert all(a[1] <= b[0] for a, b in pairwise(waited)), "waits do not overlap"
    known = sorted([*waited, *spans_of(done, "core 0"), *spans_of(done, "vector 0")])
    end, holes = known[0][0], 0
    for start, stop in known:
        holes += max(0, start - end)
        end = max(end, stop)
    # The other hart takes a slot now and then, before it ends.
    assert known[0][0] <= 50 and holes <= 16
    assert end >= done.result["cycles"] - 3


def test_a_trace_that_is_cut_says_so() -> None:
    """Up to the cycle that it names it is that of a run whose trace is whole."""
    code = assemble_lines(
        FIRST_HARTS + START + TILE * 8 + "end:\nli t0, 0x1FEED000\ncsrw validation0, t0\n", ENTRY, "t"
    )

    def events_of(most: int) -> tuple[list[tuple[int, ...]], int | None]:
        chip = Chip(1, MACHINE, {}, {"trace": 1, "most_spans": most})
        assert chip.write(ENTRY, code.data) == ""
        result = chip.run(ENTRY)
        return [*result["events"]], result["cut"]

    whole, cut = events_of(1 << 20)
    assert cut is None
    part, cut = events_of(100)
    assert len(part) == 100 < len(whole) and cut is not None
    before = [e for e in whole if e[1] < cut]
    assert before and set(before) <= set(part)
    told = events.trace(Outcome("passed", 1, 1, events=part, cut=cut), Locator())  # pyright: ignore[reportArgumentType]
    assert told.notice == f"the trace has 100 spans and is complete up to cycle {cut:,} only"
    assert events.trace(Outcome("passed", 1, 1, events=whole), Locator()).notice == ""  # pyright: ignore[reportArgumentType]


def test_lines_of_dram_show_their_banks_and_memory_shires() -> None:
    """Of scalar loads, tensor loads and evictions: line n is in bank n % 4 and comes from memory shire n % 8."""
    scalar = "".join(f"ld x{5 + n}, {64 * n}(a0)\n" for n in range(3))
    text = f"li a0, {ARRAYS + 8 * 64}\n{scalar}" + load(0, 2, ARRAYS + 3 * 64) + wait(0)
    done = run(FIRST_HARTS + START + text, trace=True)
    lines: dict[int, list[int]] = {}
    for start, end, owner, track, word, pc in done.result["events"]:
        if events.TRACKS[track] == "memory":
            assert owner == word >> 6 & 7 and start < end and pc
            lines.setdefault(owner, []).append(word & ~63)
    for n in (8, 9, 10, 3, 4):
        address = ARRAYS + 64 * n
        assert address in lines[n % 8]
        assert any(
            events.TRACKS[t] == f"bank {n % 4}" and w & ~63 == address for _, _, _, t, w, _ in done.result["events"]
        )
    for owner in lines:
        found = spans_of(done, "memory", owner)
        assert all(a[1] <= b[0] for a, b in pairwise(found)), "one line after another"
    told = events.trace(Outcome("passed", 1, 1, events=done.result["events"]), Locator())  # pyright: ignore[reportArgumentType]
    assert {"minion 0", "shire 0", "memory shire 0"} <= {span.group for span in told.spans}
