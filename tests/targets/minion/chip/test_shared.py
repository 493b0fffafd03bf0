# SPDX-License-Identifier: Apache-2.0
"""What harts share: counters of barriers and credits, ESRs, counters of events, cooperative loads, the trace."""

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, SCRATCHPAD, START, csr, load, load_b, run, wait

OUT = ARRAYS + 0x40000
ESR = 0x1_3FC0_0000  # of the own shire, with user privilege
FLB_WORD, CREDIT, COOP, FEATURE = ESR + 0x340100, ESR + 0x3400C0, ESR + 0x40340290, ESR + 0xC0340000
STORE_T1 = f"li a0, {OUT}\nslli a1, s0, 6\nadd a0, a0, a1\nsd t1, 0(a0)\n"


def kept(done_read: object) -> list[int]:
    return [int(each) for each in np.asarray(done_read).reshape(-1)]


def esr(address: int, value: int) -> str:
    return f"li a2, {address}\nli a3, {value}\nsd a3, 0(a2)\n"


@pytest.mark.parametrize("address", [FLB_WORD + 8 * 5, COOP, FEATURE])
def test_a_word_of_esr_reads_back(address: int) -> None:
    text = esr(address, 1) + f"ld t1, 0(a2)\n{STORE_T1}"
    assert kept(run(FIRST_HARTS + text).read(OUT, (1,), np.uint64)) == [1]


@pytest.mark.parametrize("address", [ESR, ESR + 0x340108 + 4, 0x1_0000_0000 + (33 << 22) + 0x340100])
def test_an_esr_that_there_is_none_of_faults(address: int) -> None:
    result = run(FIRST_HARTS + f"li a2, {address}\nld t1, 0(a2)\n").result
    assert (result["stop"], result["cause"]) in {("trap", 5), ("trap", 4)}


@pytest.mark.parametrize("functional", [False, True])
def test_credits_are_counted_and_taken(functional: bool) -> None:
    text = esr(CREDIT, 1) * 3 + esr(CREDIT + 8, 1) * 2 + "csrwi fcc, 0\ncsrwi fcc, 1\ncsrwi fcc, 0\n"
    text += "1: csrr t1, fccnb\nli a4, 0x10001\nbne t1, a4, 1b\n" + STORE_T1
    done = run(FIRST_HARTS + text, functional=functional)
    assert done.result["stop"] == "passed"
    assert kept(done.read(OUT, (1,), np.uint64)) == [0x10001]


def test_credits_of_the_other_thread() -> None:
    text = f"csrr s0, mhartid\nbnez s0, 1f\n{esr(CREDIT + 16, 1)}j end\n1: csrwi fcc, 0\n"
    assert run(text).result["stop"] == "passed"


def test_a_counter_of_credits_that_overflows() -> None:
    text = "li s2, 65536\n1:\n" + esr(CREDIT, 1) + "addi s2, s2, -1\nbnez s2, 1b\n"
    text += "li s2, 1000\n1: addi s2, s2, -1\nbnez s2, 1b\ncsrr t1, tensor_error\n" + STORE_T1
    # Each write of an ESR waits for the answer to the last.
    done = run(FIRST_HARTS + text, hazards="report", max_cycles=10_000_000)
    assert kept(done.read(OUT, (1,), np.uint64)) == [1 << 3]
    assert [finding["kind"] for finding in done.result["findings"]] == ["credit_overflow"]


def test_joins_are_told_who_was_last() -> None:
    text = f"li t0, {7 << 5 | 3}\ncsrrw t1, flb, t0\n" + STORE_T1
    done = run(FIRST_HARTS + text, minions=8)
    assert sorted(kept(done.read(OUT, (8, 8), np.uint64)[:, 0])) == [0] * 7 + [1]


def test_six_counters_for_a_neighbourhood() -> None:
    """The first four add what all its minions count that selected the event: 8 minions load 2 lines each, 3 in the
    other neighbourhood one each."""
    lines = "li t2, 2\nli t3, 8\nblt s0, t3, 1f\nli t2, 1\n1: addi t2, t2, -1\n"
    text = START + "csrwi mhpmevent4, 15\n" + lines + f"li t0, {words.load(0, 1, ARRAYS)}\nor t0, t0, t2\nli x31, 64\n"
    text += "csrw tensor_load, t0\n" + wait(0) + "li t2, 2000\n1: addi t2, t2, -1\nbnez t2, 1b\n"
    text += "csrr t1, mhpmcounter4\n" + STORE_T1
    done = run(FIRST_HARTS + text, minions=11)
    assert kept(done.read(OUT, (11, 8), np.uint64)[:, 0]) == [16] * 8 + [3] * 3


def test_cycles_are_an_event_that_each_minion_adds() -> None:
    text = "csrwi mhpmevent3, 1\ncsrr t2, mhpmcounter3\nli t3, 1000\n1: addi t3, t3, -1\nbnez t3, 1b\n"
    text += "csrr t1, mhpmcounter3\nsub t1, t1, t2\n" + STORE_T1
    one, eight = (kept(run(FIRST_HARTS + text, minions=n).read(OUT, (1,), np.uint64))[0] for n in (1, 8))
    assert abs(eight - 8 * one) < 0.1 * eight


@pytest.mark.parametrize("functional", [False, True])
def test_instructions_are_counted_within_a_run(functional: bool) -> None:
    text = "csrwi mhpmevent3, 2\ncsrr t2, mhpmcounter3\nli t3, 1000\n1: addi t3, t3, -1\nbnez t3, 1b\n"
    text += "csrr t1, mhpmcounter3\nsub t1, t1, t2\n" + STORE_T1
    assert kept(run(FIRST_HARTS + text, functional=functional).read(OUT, (1,), np.uint64)) == [2002]


@pytest.mark.parametrize("functional", [False, True])
def test_a_write_of_a_counter_does_not_count_itself(functional: bool) -> None:
    text = "csrwi mhpmevent3, 2\nli t0, 120\ncsrw mhpmcounter3, t0\nnop\nnop\nnop\ncsrrwi t1, mhpmcounter3, 0\n"
    text += STORE_T1
    assert kept(run(FIRST_HARTS + text, functional=functional).read(OUT, (1,), np.uint64)) == [123]


@pytest.mark.parametrize("functional", [False, True])
def test_a_cooperative_load_is_fetched_once(functional: bool) -> None:
    group = 1 << 16 | 0xFF << 8 | 3
    mode = esr(COOP, 1) + csr(0x804, group)
    tile = csr(0x83F, words.load(0, 16, ARRAYS, coop=True), 64) + wait(0)
    out = f"li a0, {words.store_scp(16, OUT)}\nslli t1, s0, 10\nadd a0, a0, t1\nli x31, 64\ncsrw tensor_store, a0\n"
    array = np.arange(256, dtype=np.float32)
    done = run(FIRST_HARTS + START + mode + tile + out + wait(8), {ARRAYS: array}, 8, functional=functional)
    assert done.result["stop"] == "passed"
    np.testing.assert_array_equal(done.read(OUT, (8, 256), np.float32), np.tile(array, (8, 1)))
    if not functional:
        assert done.result["counters"]["bytes_dram"] == 16 * 64


def test_a_member_that_never_loads_holds_the_group() -> None:
    mode = esr(COOP, 1) + csr(0x804, 1 << 16 | 3 << 8)
    text = START + mode + "bnez s0, end\n" + csr(0x83F, words.load(0, 16, ARRAYS, coop=True), 64) + wait(0)
    assert run(FIRST_HARTS + text, minions=2).result["stop"] == "deadlock"


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("thread", [0, 1])
def test_both_harts_load_to_the_shires_scratchpad(thread: int, functional: bool) -> None:
    text = f"csrr s0, mhartid\nli t1, {thread}\nbne s0, t1, end\n" + START
    text += csr(0x85F, words.load_l2(5, 16, ARRAYS), words.load_second_word(64, 1)) + wait(3)
    array = np.arange(256, dtype=np.uint32)
    done = run(text, {ARRAYS: array}, functional=functional)
    assert done.result["stop"] == "passed"
    np.testing.assert_array_equal(done.read(SCRATCHPAD + 5 * 64, (256,), np.uint32), array)


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("most", [5000, 5001, 12345])
def test_an_endless_run_ends_in_its_cycle(most: int, functional: bool) -> None:
    result = run("1: j 1b\n", max_cycles=most, functional=functional).result
    assert (result["stop"], result["cycles"]) == ("max-cycles", most)
    assert result["instructions"] <= 2 * most


def test_what_is_printed_and_a_failure() -> None:
    text = "".join(f"li t0, {1 << 56 | byte}\ncsrw validation1, t0\n" for byte in b"hi\n")
    result = run(FIRST_HARTS + text + "li t0, 0x50BAD000\ncsrw validation0, t0\n").result
    assert (result["printed"], result["stop"], result["hart"]) == (b"hi\n", "failed", 0)


def test_spans_of_the_trace() -> None:
    text = FIRST_HARTS + START + load(0, 16, ARRAYS) + load_b(16, ARRAYS) + wait(0)
    text += csr(0x801, words.fma("fp32", first=True)) + wait(7)
    events = run(text, trace=True).result["events"]
    spans = {track: (start, end) for start, end, _, track, _, _ in events}
    assert {0, 2, 3, 6} <= set(spans)
    assert spans[6][1] - spans[6][0] >= 529


@pytest.mark.parametrize("thread", [0, 1])
def test_branches_and_accesses_are_counted_by_thread(thread: int) -> None:
    """Of 100 turns, 99 branches are taken. 100 stores hit one line, and each of 100 loads has a line of its own."""
    text = (
        "csrr s0, mhartid\nandi t1, s0, 1\n" + ("beqz t1, end\n" if thread else "bnez t1, end\n") + "srli s0, s0, 1\n"
    )
    text += f"csrwi mhpmevent3, {4 + thread}\ncsrwi mhpmevent4, {6 + thread}\ncsrwi mhpmevent5, {8 + thread}\n"
    text += f"csrwi mhpmevent6, 10\nli t3, 100\nli a4, {OUT + 0x8000}\nli a5, {OUT + 0x10000}\n"
    text += "1: sd t3, 0(a4)\nld t4, 0(a5)\naddi a5, a5, 64\naddi t3, t3, -1\nbnez t3, 1b\n"
    text += "".join(f"csrr s{2 + n}, mhpmcounter{3 + n}\n" for n in range(4)) + f"li a0, {OUT}\n"
    text += "".join(f"sd s{2 + n}, {8 * n}(a0)\n" for n in range(4))
    assert kept(run(text).read(OUT, (4,), np.uint64)) == [99, 200, 101, 101]


DISABLE = (ESR + 0xC0340240, ESR + 0xC0340010)


@pytest.mark.parametrize("functional", [False, True])
def test_a_hart_that_is_disabled_stops_until_it_is_enabled(functional: bool) -> None:
    """Hart 1 counts; hart 0 stops it, looks twice, lets it go on, and looks again."""
    count = "1: ld t1, 0(a0)\naddi t1, t1, 1\nsd t1, 0(a0)\nld t2, 8(a0)\nbeqz t2, 1b\n"
    pause = "li t3, 3000\n2: addi t3, t3, -1\nbnez t3, 2b\n"
    text = f"li a0, {OUT}\ncsrr s0, mhartid\nbeqz s0, 3f\n{count}j end\n3:\n{pause}{esr(DISABLE[1], 1)}"
    for name in ("s2", "s3"):
        text += pause.replace("2:", f"2{name[1]}:").replace("2b", f"2{name[1]}b") + f"ld {name}, 0(a0)\n"
    text += esr(DISABLE[1], 0) + pause.replace("2:", "29:").replace("2b", "29b") + "ld s4, 0(a0)\n"
    text += "sd s2, 16(a0)\nsd s3, 24(a0)\nsd s4, 32(a0)\nsd s0, 8(a0)\nli t1, 1\nsd t1, 8(a0)\n"
    first, second, third = kept(run(text, functional=functional).read(OUT + 16, (3,), np.uint64))
    assert 0 < first == second < third


def test_a_hart_that_disables_itself_does_not_count_and_is_named_in_a_deadlock() -> None:
    text = FIRST_HARTS + f"bnez s0, 1f\n{esr(DISABLE[0], 1)}j end\n1: csrwi fcc, 0\n"
    assert run(FIRST_HARTS + f"{esr(DISABLE[0], 1)}1: j 1b\n", minions=1).result["stop"] == "passed"
    done = run(text, minions=2)
    assert done.result["stop"] == "deadlock"
    assert done.result["waits"][0]["text"] == "is disabled by an ESR of its shire"


def test_one_thread_by_minion_feature() -> None:
    text = f"csrr s0, mhartid\nbnez s0, 1f\n{esr(FEATURE, 16)}j end\n1: j 1b\n"
    assert run(text).result["stop"] == "passed"
