# SPDX-License-Identifier: Apache-2.0
"""Modes of L1: legal moves and what each loses; cache operations, locks and their errors. Source: facts §4."""

import pytest
from tests.targets.minion.core.machine import FREE, run

MODES = pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
LEGAL = {(0, 1), (1, 0), (1, 1), (1, 3), (3, 0), (3, 1), (3, 3)}


def into(mode: int) -> str:
    return {0: "", 1: "csrwi mcache_control, 1\n", 3: "csrwi mcache_control, 1\ncsrwi mcache_control, 3\n"}[mode]


@MODES
@pytest.mark.parametrize("before", [0, 1, 3])
@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_moves_between_modes(before: int, after: int, functional: bool) -> None:
    source = into(before) + f"csrwi mcache_control, {after}\ncsrr a0, mcache_control\nkeep a0"
    assert run(source, functional).kept == (after if (before, after) in LEGAL else before,)


@pytest.mark.parametrize(
    ("before", "written", "after"), [(0, 3, 0), (1, 2, 3), (1, 3, 3), (3, 0, 1), (3, 3, 3), (1, 0, 1)]
)
def test_user_mode_moves_only_the_scratchpad(before: int, written: int, after: int) -> None:
    source = into(before) + f"csrwi ucache_control, {written}\ncsrr a0, mcache_control\nkeep a0"
    assert run(source).kept == (after,)


def test_rates_of_cache_operations_are_kept() -> None:
    source = "csrwi mcache_control, 1\nli a0, -1\ncsrw ucache_control, a0\ncsrr a0, ucache_control\nkeep a0"
    source += "\ncsrwi mcache_control, 0\ncsrr a0, ucache_control\nkeep a0"
    assert run(source).kept == (0x7DF, 0x7DC)


@MODES
@pytest.mark.parametrize(("before", "after"), sorted((a, b) for a, b in LEGAL if a != b))
def test_what_a_move_loses(before: int, after: int, functional: bool) -> None:
    """A store of hart 0 that was not flushed is lost by every move: D1Split's loses everything, ScpEnable's the sets 0
    to 13, among which are all of hart 0's."""
    source = into(before) + f"li a0, {FREE}\nsd a0, 0(a0)\ncsrwi mcache_control, {after}\nld a1, 0(a0)"
    made = run(source, functional, hazards=1)
    lost = [finding for finding in made.result["findings"] if finding["kind"] == "stale_read"]
    assert len(lost) == 1


def test_staying_in_a_mode_loses_nothing() -> None:
    source = into(3) + f"li a0, {FREE}\nsd a0, 0(a0)\ncsrwi mcache_control, 3\nld a1, 0(a0)"
    assert run(source).result["findings"] == []


@MODES
def test_entering_scratchpad_mode_clears_the_lines(functional: bool) -> None:
    """A line that a tensor load has filled is stored: once as loaded, once after the L1Scp was entered anew."""
    load, store = 0, 1 << 48
    source = f"""
        {into(3)}
        li x31, 64
        li a0, {FREE + load}
        csrw tensor_load, a0
        csrwi tensor_wait, 0
        li a1, {store | (FREE + 0x1000)}
        csrw tensor_store, a1
        csrwi tensor_wait, 8
        csrwi mcache_control, 1
        csrwi mcache_control, 3
        li a1, {store | (FREE + 0x2000)}
        csrw tensor_store, a1
        csrwi tensor_wait, 8
    """
    made = run(source, functional, data={FREE: b"\x55" * 64}, look=(FREE + 0x1000, 0x1040))
    assert made.memory[:64] == b"\x55" * 64
    assert made.memory[0x1000:] == bytes(64)


def operation(name: str, address: int, level: int, count: int = 1, stride: int = 64, mask: bool = False) -> str:
    word = int(mask) << 63 | level << 58 | address | count - 1
    return f"li x31, {stride}\nli a0, {word}\ncsrw {name}, a0\ncsrwi tensor_wait, 6\ncsrr a1, tensor_error\nkeep a1\n"


@MODES
@pytest.mark.parametrize("name", ["prefetch_va", "evict_va", "flush_va", "lock_va", "unlock_va"])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_operations_on_dram_have_no_errors(name: str, level: int, functional: bool) -> None:
    assert run(operation(name, FREE, level, 16), functional).kept == (0,)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_scratchpads_have_nothing_behind_l2(level: int) -> None:
    scratchpad = 0x8000_0000
    assert run(operation("evict_va", scratchpad, level)).kept == (128 if level > 1 else 0,)
    assert run(operation("flush_va", scratchpad, level)).kept == (128 if level > 1 else 0,)
    assert run(operation("prefetch_va", scratchpad, level)).kept == (128 if 0 < level < 3 else 0,)


@pytest.mark.parametrize("name", ["prefetch_va", "evict_va", "flush_va", "lock_va", "unlock_va"])
def test_lines_outside_memory_set_a_bit_and_no_trap(name: str) -> None:
    made = run(operation(name, 0x4000_0000, 1))
    assert made.kept == (128,)
    assert not made.traps


def test_a_fault_ends_an_operation_behind_the_lines_before_it() -> None:
    last = 0x8000_0000 + (2560 << 10) - 128
    made = run(operation("lock_va", last, 0, 4), data={last: b"\xff" * 128}, look=(last, 128))
    assert made.kept == (128,)
    assert made.memory == bytes(128)


def test_masks_and_strides_of_operations() -> None:
    source = "li a0, 0x5\ncsrw tensor_mask, a0\n" + operation("lock_va", FREE, 0, 4, 128, mask=True)
    made = run(source, data={FREE: b"\xff" * 512}, look=(FREE, 512))
    assert made.memory == bytes(64) + b"\xff" * 192 + bytes(64) + b"\xff" * 192


@MODES
def test_a_store_is_visible_to_others_when_it_is_flushed(functional: bool) -> None:
    """A tensor load reads what a store has left in L1: stale, unless the line is flushed and the flush waited for."""
    store = into(3) + f"li a0, {FREE}\nsd a0, 0(a0)\n"
    load = f"li x31, 64\nli a0, {FREE}\ncsrw tensor_load, a0\ncsrwi tensor_wait, 0\n"
    stale = run(store + load, functional).result["findings"]
    assert [finding["kind"] for finding in stale] == ["stale_read"]
    assert run(store + "fence\n" + operation("flush_va", FREE, 1) + load, functional).result["findings"] == []
    assert run(store + "fence\n" + operation("evict_va", FREE, 1) + load, functional).result["findings"] == []


def lock(address: int, way: int) -> str:
    return f"li a0, {way << 55 | address}\ncsrw lock_sw, a0\ncsrr a1, tensor_error\nkeep a1\ncsrw tensor_error, zero\n"


def test_locks_by_way() -> None:
    lines = [FREE + 1024 * n for n in range(5)]  # of one set
    source = "".join(lock(lines[n], n) for n in range(4))
    # Three ways of a set at most; not a way twice, not a line twice; lines outside memory; then an unlocked way again.
    source += lock(lines[4], 1) + lock(lines[0], 3) + lock(0x4000_0000, 0) + lock(0x4000_0000 + 64, 0)
    source += f"li a0, {1 << 55 | (FREE // 64 % 16) << 6}\ncsrw unlock_sw, a0\n" + lock(lines[4], 1)
    made = run(source, data={lines[0]: b"\xff" * 64, lines[4]: b"\xff" * 64}, look=(lines[0], 64))
    assert made.kept == (0, 0, 0, 32, 32, 32, 32 + 128, 128, 0)
    assert made.memory == bytes(64)


def test_a_flush_of_all_sets_and_ways_makes_stores_visible() -> None:
    store = into(3) + f"li a0, {FREE}\nsd a0, 0(a0)\nfence\n"
    flush = "".join(f"li a0, {1 << 58 | 12 << 14 | way << 6 | 1}\ncsrw flush_sw, a0\n" for way in range(4))
    load = f"csrwi tensor_wait, 6\nli x31, 64\nli a0, {FREE}\ncsrw tensor_load, a0\ncsrwi tensor_wait, 0\n"
    assert run(store + flush + load).result["findings"] == []
    assert run(store + flush.replace("flush_sw", "evict_sw") + load).result["findings"] == []


def test_invalidation_loses_stores() -> None:
    made = run(f"li a0, {FREE}\nsd a0, 0(a0)\ncsrwi cache_invalidate, 2\nld a1, 0(a0)")
    assert [finding["kind"] for finding in made.result["findings"]] == ["stale_read"]


@MODES
def test_misaligned_accesses_work_in_memory(functional: bool) -> None:
    source = f"""
        li a0, {FREE + 61}
        li a1, 0x1122334455667788
        sd a1, 0(a0)
        lw a2, 2(a0)
        lhu a3, 2(a0)
        keep a2
        keep a3
        li a0, {0x80_0100_0000 - 3}
        sd a1, 0(a0)
        ld a2, 0(a0)
        keep a2
    """
    assert run(source, functional).kept == (0x33445566, 0x5566, 0x1122334455667788)


@MODES
def test_formats_of_scratchpad_addresses(functional: bool) -> None:
    # Shire 1's line 5 in format 0; own shire by 0x7f; lines of format 1 go round the shires.
    source = """
        li a0, 0xbf800040
        li a1, 11
        sd a1, 0(a0)
        li a0, 0x80000040
        ld a1, 0(a0)
        keep a1
        li a0, 0xc0000840
        li a1, 12
        sd a1, 8(a0)
        li a0, 0x80800048
        ld a1, 0(a0)
        keep a1
    """
    assert run(source, functional).kept == (11, 12)


def test_an_esr_is_read_and_written_in_words_of_8_bytes() -> None:
    made = run("li a0, 0x100340108\nli a1, 9\nsd a1, 0(a0)\nld a2, 0(a0)\nkeep a2\ncsrwi flb, 1\nld a2, 0(a0)\nkeep a2")
    assert made.kept == (9, 10)


def test_zero_everywhere_at_first() -> None:
    assert run(f"li a0, {FREE}\nld a1, 0(a0)\nkeep a1\nli a0, 0x80001000\nld a1, 0(a0)\nkeep a1").kept == (0, 0)
