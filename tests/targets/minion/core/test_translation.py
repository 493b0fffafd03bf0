# SPDX-License-Identifier: Apache-2.0
"""Page tables: Sv39 and Sv48 of satp and matp, every size of page, every permission. Data accesses of machine mode are
translated by MPRV, or by matp. Source: The RISC-V Instruction Set Manual, Volume II, chapter 12."""

import struct

import pytest
from tests.targets.minion.core.machine import FREE, SFENCE, run

V, R, W, X, U, A, D = 1, 2, 4, 8, 16, 64, 128
ALL = V | R | W | X | A | D
TABLES, DATA = 0x80_0100_0000, 0x80_0200_0000
MODES = pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
LOAD, STORE = "ld a1, 0(a0)", "sd a1, 0(a0)"


def tables(levels: int, address: int, leaf: int, flags: int, physical: int = DATA) -> dict[int, bytes]:
    """One page, whose leaf is at a level (0 is 4 KiB), in tables that follow each other."""
    made: dict[int, bytes] = {}
    for n in range(levels - 1, leaf - 1, -1):
        table = TABLES + 0x1000 * (levels - 1 - n)
        entry = physical >> 12 << 10 | flags if n == leaf else (table + 0x1000) >> 12 << 10 | V
        made[table + 8 * (address >> 12 + 9 * n & 511)] = struct.pack("<Q", entry)
    return made


def root(levels: int) -> int:
    return (levels + 5) << 60 | TABLES >> 12


def by_mprv(address: int, access: str, levels: int = 3, privilege: int = 1, status: int = 0) -> str:
    """An access as another privilege would do it; what it loaded is kept."""
    return f"""
        li t0, {root(levels)}
        csrw satp, t0
        li a0, {address}
        li a1, 0x1234
        li t0, 0x1800
        csrc mstatus, t0
        li t0, {privilege << 11 | 1 << 17 | status}
        csrs mstatus, t0
        {access}
        li t0, 0x20000
        csrc mstatus, t0
        keep a1
    """


@MODES
@pytest.mark.parametrize(("levels", "leaf"), [(3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_pages_of_every_size(levels: int, leaf: int, functional: bool) -> None:
    # Large pages begin at multiples of their size, so that the greatest ones hold all of DRAM.
    size = 1 << 12 + 9 * leaf
    physical = DATA // size * size
    address = (1 << 12 + 9 * (levels - 1)) + (DATA & size - 1) + 8
    data = tables(levels, address, leaf, ALL, physical) | {DATA + 8: struct.pack("<Q", 0x55AA)}
    made = run(by_mprv(address, LOAD, levels), functional, data=data)
    assert made.kept == (0x55AA,)
    assert not made.traps


@pytest.mark.parametrize(
    ("flags", "privilege", "status", "load", "store"),
    [
        (ALL, 1, 0, True, True),
        (ALL & ~V, 1, 0, False, False),
        (ALL & ~R & ~W, 1, 0, False, False),
        (ALL & ~R & ~W, 1, 1 << 19, True, False),  # MXR
        (ALL & ~W, 1, 0, True, False),
        (ALL & ~R, 1, 0, False, False),  # W without R is reserved
        (ALL & ~A, 1, 0, False, False),
        (ALL & ~D, 1, 0, True, False),
        (ALL | U, 1, 0, False, False),
        (ALL | U, 1, 1 << 18, True, True),  # SUM
        (ALL | U, 0, 0, True, True),
        (ALL, 0, 0, False, False),
    ],
)
def test_permissions(flags: int, privilege: int, status: int, load: bool, store: bool) -> None:
    address = 0x4000_2000
    data = tables(3, address, 0, flags)
    loaded = run(by_mprv(address, LOAD, 3, privilege, status), data=data)
    assert loaded.traps == [] if load else loaded.traps[0][:2] == (13, address)
    stored = run(by_mprv(address, STORE, 3, privilege, status), data=data)
    assert stored.traps == [] if store else stored.traps[0][:2] == (15, address)


@pytest.mark.parametrize("address", [1 << 38, 1 << 63, (1 << 64) - (1 << 38) - 8])
def test_addresses_that_are_no_virtual_ones(address: int) -> None:
    assert run(by_mprv(address, LOAD)).traps[0][:2] == (13, address)


def test_misaligned_large_pages_and_missing_levels() -> None:
    address = 0x4020_0000
    assert run(by_mprv(address, LOAD), data=tables(3, address, 1, ALL, DATA + 0x1000)).causes == [13]
    pointers = tables(3, address, 0, V)  # a pointer where a leaf must be
    assert run(by_mprv(address, LOAD), data=pointers).causes == [13]


def test_tables_outside_memory_are_an_access_fault() -> None:
    source = by_mprv(0x1000, LOAD).replace(str(root(3)), str(8 << 60 | 0x40000000 >> 12))
    assert run(source).traps[0][:2] == (5, 0x1000)


def test_pages_that_lead_outside_memory_are_an_access_fault() -> None:
    assert run(by_mprv(0x1000, LOAD), data=tables(3, 0x1000, 0, ALL, 0x1000)).causes == [5]


@MODES
def test_an_access_across_two_pages(functional: bool) -> None:
    first, second = tables(3, 0x1000, 0, ALL, DATA), tables(3, 0x2000, 0, ALL, DATA + 0x5000)
    data = first | second | {DATA + 0xFFC: b"\1\2\3\4", DATA + 0x5000: b"\5\6\7\10"}
    made = run(by_mprv(0x1FFC, LOAD), functional, data=data)
    assert made.kept == (0x0807060504030201,)
    missing = run(by_mprv(0x1FFC, STORE), functional, data=first, look=(DATA + 0xFFC, 4))
    assert missing.traps[0][:2] == (15, 0x2000)
    assert missing.memory == bytes(4)  # nothing is written before the trap


def test_the_upper_half_of_the_addresses() -> None:
    address = (1 << 64) - 0x1000
    data = tables(3, address, 0, ALL) | {DATA: struct.pack("<Q", 77)}
    assert run(by_mprv(address, LOAD), data=data).kept == (77,)


@MODES
def test_machine_mode_has_tables_of_its_own(functional: bool) -> None:
    # One page of 512 GiB where everything is where it was, and a page of 1 GiB that shows DRAM elsewhere.
    identity = {TABLES + 8 * (0x80_0000_0000 >> 39 & 511): struct.pack("<Q", 0x80_0000_0000 >> 12 << 10 | ALL)}
    window = {TABLES: struct.pack("<Q", (TABLES + 0x1000) >> 12 << 10 | V)}
    page = {TABLES + 0x1000 + 8: struct.pack("<Q", 0x80_0000_0000 >> 12 << 10 | ALL)}
    program = f"li t0, {root(4)}\ncsrw matp, t0\nli a0, {0x4200_0000}\nld a1, 0(a0)\ncsrw matp, zero\nkeep a1"
    made = run(program, functional, data=identity | window | page | {DATA: struct.pack("<Q", 99)})
    assert made.kept == (99,)
    assert not made.traps


@MODES
@pytest.mark.parametrize("levels", [3, 4])
def test_instructions_are_translated(levels: int, functional: bool) -> None:
    # A page of code of user mode: it computes, crosses to a second page and calls.
    words = [0x00150513] * 1022 + [0x00150513, 0x00150513]  # addi a0, a0, 1
    first = b"".join(struct.pack("<I", word) for word in words)
    second = struct.pack("<2I", 0x00150513, 0x00000073)
    user = ALL | U
    data = tables(levels, 0x1000, 0, user) | tables(levels, 0x2000, 0, user, DATA + 0x8000)
    data |= {DATA: first, DATA + 0x8000: second}
    source = f"""
        li t0, {root(levels)}
        csrw satp, t0
        li a0, 0
        li t0, 0x1800
        csrc mstatus, t0
        li t0, 0x1000
        csrw mepc, t0
        la t0, back
        csrw mtvec, t0
        .word 0x30200073
        .balign 4096
    back:
        csrr a1, mcause
        keep a0
        keep a1
        csrr a1, mepc
        keep a1
    """
    made = run(source, functional, data=data)
    assert made.kept == (1025, 8, 0x2004)


def test_code_without_execution_is_a_page_fault() -> None:
    source = f"""
        li t0, {root(3)}
        csrw satp, t0
        li t0, 0x1800
        csrc mstatus, t0
        li t0, 0x1000
        csrw mepc, t0
        la t0, back
        csrw mtvec, t0
        .word 0x30200073
        .balign 4096
    back:
        csrr a1, mcause
        keep a1
        csrr a1, mtval
        keep a1
    """
    assert run(source, data=tables(3, 0x1000, 0, (ALL | U) & ~X)).kept == (12, 0x1000)


@MODES
def test_code_that_is_mapped_anew_behind_a_fence(functional: bool) -> None:
    # Supervisor code at one address, of two pages one after the other; it comes back by a call.
    flags = ALL
    data = tables(3, 0x1000, 0, flags) | {DATA: struct.pack("<2I", 0x00150513, 0x00000073)}
    data |= {DATA + 0x1000: struct.pack("<2I", 0x00A50513, 0x00000073)}
    entry = TABLES + 0x2000 + 8
    go = """
        li t0, 0x1800
        csrc mstatus, t0
        li t0, 0x800
        csrs mstatus, t0
        li t0, 0x1000
        csrw mepc, t0
        la t0, LABEL
        csrw mtvec, t0
        .word 0x30200073
        .balign 4096
    LABEL:
    """
    source = f"""
        li t0, {root(3)}
        csrw satp, t0
        li a0, 0
        {go.replace("LABEL", "one")}
        keep a0
        li t0, {entry}
        li t1, {(DATA + 0x1000) >> 12 << 10 | flags}
        sd t1, 0(t0)
        {SFENCE}
        {go.replace("LABEL", "two")}
        keep a0
    """
    assert run(source, functional, data=data).kept == (1, 11)


def test_cache_operations_and_tensor_loads_are_translated() -> None:
    lock = by_mprv(0x1000, "li x31, 64\ncsrw lock_va, a0")
    made = run(lock, data=tables(3, 0x1000, 0, ALL) | {DATA: b"\xff" * 64}, look=(DATA, 64))
    assert made.memory == bytes(64)
    faults = run(lock + "csrr a0, tensor_error\nkeep a0", data=tables(3, 0x1000, 0, ALL & ~W))
    assert faults.kept[1] == 1 << 7
    assert not faults.traps


def test_bare_addresses_have_40_bits() -> None:
    made = run(f"li a0, {FREE | 1 << 44}\nld a1, 0(a0)\nkeep a1", data={FREE: struct.pack("<Q", 5)})
    assert made.kept == (5,)


@MODES
def test_changed_tables_are_seen_behind_a_fence(functional: bool) -> None:
    """Between the change and sfence.vma, an access may find the page that was there: that is what is modelled. A page
    that was not there, and another use of the page, are looked up."""
    address, entry = 0x1000, TABLES + 0x2000 + 8
    data = tables(3, address, 0, ALL) | {DATA: struct.pack("<Q", 11), DATA + 0x1000: struct.pack("<Q", 22)}
    satp = f"li t0, {root(3)}\ncsrw satp, t0\n"
    look = by_mprv(address, LOAD).replace(satp.splitlines()[0], "nop").replace("csrw satp, t0", "nop")
    change = f"li t1, {(DATA + 0x1000) >> 12 << 10 | ALL}\nli t2, {entry}\nsd t1, 0(t2)\n"
    other = look.replace(f"li a0, {address}", f"li a0, {address + 0x1000}")
    add = f"li t1, {DATA >> 12 << 10 | ALL}\nsd t1, 8(t2)\n"
    source = satp + look + change + look + SFENCE + "\n" + look + other + add + other
    made = run(source, functional, data=data)
    assert made.kept == (11, 11, 22, 0x1234, 11)
    assert made.causes == [13]


def test_a_write_of_satp_forgets_translations() -> None:
    address, entry = 0x1000, TABLES + 0x2000 + 8
    data = tables(3, address, 0, ALL) | {DATA: struct.pack("<Q", 11), DATA + 0x1000: struct.pack("<Q", 22)}
    again = f"li t1, {(DATA + 0x1000) >> 12 << 10 | ALL}\nli t2, {entry}\nsd t1, 0(t2)\n"
    assert run(by_mprv(address, LOAD) + again + by_mprv(address, LOAD), data=data).kept == (11, 22)
