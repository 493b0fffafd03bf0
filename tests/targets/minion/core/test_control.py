# SPDX-License-Identifier: Apache-2.0
"""Control registers: what can be written and read back, what is constant, and who may not. Source: facts §3."""

import pytest
from tests.targets.minion.core.machine import MRET, run

ONES = 0xFFFF_FFFF_FFFF_FFFF
FEATURE = 0x1_FFF4_0000
MODES = pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])


@MODES
@pytest.mark.parametrize(
    ("name", "held"),
    [
        ("stvec", 0xFFFF_FFFF_FFFF_F001),
        ("scounteren", 0x1FF),
        ("sscratch", ONES),
        ("sepc", ONES - 1),
        ("scause", 0x8000_0000_0000_001F),
        ("stval", ONES),
        ("medeleg", 0xB108),
        ("mideleg", 0x222),
        ("mie", 0x890AAA),
        ("mcounteren", 0x1FF),
        ("mscratch", ONES),
        ("mepc", ONES - 1),
        ("mcause", 0x8000_0000_0000_001F),
        ("mtval", ONES),
        ("minstmask", 0x1_FFFF_FFFF),
        ("minstmatch", 0xFFFF_FFFF),
        ("mbusaddr", 0xFF_FFFF_FFFF),
        ("menable_shadows", 1),
        ("excl_mode", 1),
        ("tensor_mask", 0xFFFF),
        ("tensor_error", 0x3FF),
        ("gsc_progress", 7),
        ("fflags", 0x8000_001F),
        ("frm", 7),
        ("fcsr", 0x8000_00FF),
        ("validation2", ONES),
        ("validation3", ONES),
    ],
)
def test_bits_that_a_register_holds(name: str, held: int, functional: bool) -> None:
    made = run(
        f"li a0, -1\ncsrw {name}, a0\ncsrr a1, {name}\nkeep a1\ncsrc {name}, a0\ncsrr a1, {name}\nkeep a1", functional
    )
    assert made.kept == (held, 0)
    assert not made.traps


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("misa", 0x8000_0000_0094_1124),
        ("mvendorid", 0x5E5),
        ("marchid", 0x8000_0000_0000_0001),
        ("mimpid", 0),
        ("mhartid", 0),
        ("hartid", 0),
        ("mcycle", 0),
        ("minstret", 0),
        ("cycle", 0),
        ("instret", 0),
        ("hpmcounter4", 0),
        ("mhpmcounter9", 0),
        ("fccnb", 0),
        ("tselect", 0),
        ("mstatus", 0x8000_000A_0000_7800),
        ("sstatus", 0x8000_0002_0000_6000),
    ],
)
def test_values_at_the_beginning(name: str, value: int) -> None:
    made = run(f"csrr a0, {name}\nkeep a0")
    assert made.kept == (value,)


COMMANDS = "tensor_reduce tensor_fma tensor_coop tensor_quant tensor_load tensor_load_l2 tensor_store tensor_wait"
CACHE = "prefetch_va evict_va flush_va lock_va unlock_va evict_sw flush_sw lock_sw unlock_sw flb fcc stall"


@pytest.mark.parametrize("name", [*COMMANDS.split(), *CACHE.split(), "tensor_conv_size", "cache_invalidate"])
def test_commands_read_as_0_and_do_nothing_when_read(name: str) -> None:
    made = run(f"li a0, 7\ncsrr a0, {name}\nkeep a0")
    assert made.kept == (0,)
    assert not made.traps


@pytest.mark.parametrize("number", [0x004, 0x3A0, 0x7CF, 0x7E1, 0x807, 0x9CC, 0xC01, 0xC09, 0xCC1, 0xF15])
def test_absent_registers_are_illegal(number: int) -> None:
    made = run(f"csrr a0, {number:#x}")
    assert [(cause, value) for cause, value, _ in made.traps] == [(2, number << 20 | 0x2573)]


@pytest.mark.parametrize("name", ["mhartid", "fccnb", "hartid", "cycle", "hpmcounter3"])
def test_writes_of_what_can_only_be_read_are_illegal(name: str) -> None:
    assert run(f"csrw {name}, a0").causes == [2]


def in_privilege(level: int, body: str) -> str:
    """A body in another privilege; traps come back to machine mode and go on there."""
    return f"""
        li t0, 0x1800
        csrc mstatus, t0
        li t0, {level << 11}
        csrs mstatus, t0
        la t0, lower
        csrw mepc, t0
        {MRET}
    lower:
        {body}
        ecall
    """


@pytest.mark.parametrize(
    ("level", "name", "legal"),
    [
        (0, "sscratch", False),
        (0, "mscratch", False),
        (1, "sscratch", True),
        (1, "mscratch", False),
        (0, "tensor_mask", True),
        (1, "mcache_control", False),
        (0, "ucache_control", True),
        (0, "hartid", False),
        (1, "hpmcounter3", False),
    ],
)
def test_privilege(level: int, name: str, legal: bool) -> None:
    made = run(in_privilege(level, f"csrr a0, {name}"))
    assert made.causes[0] == (8 + level if legal else 2)


def test_the_hart_number_in_user_mode_needs_a_shadow() -> None:
    made = run("csrwi menable_shadows, 1\n" + in_privilege(0, "csrr a0, hartid"))
    assert made.causes == [8]


@pytest.mark.parametrize(("machine", "supervisor", "legal"), [(8, 8, True), (8, 0, False), (0, 8, False)])
def test_counters_in_user_mode_need_both_enables(machine: int, supervisor: int, legal: bool) -> None:
    enable = f"csrwi mcounteren, {machine}\ncsrwi scounteren, {supervisor}\n"
    assert run(enable + in_privilege(0, "csrr a0, hpmcounter3")).causes[0] == (8 if legal else 2)


@pytest.mark.parametrize("name", ["fflags", "frm", "fcsr"])
def test_floats_that_are_off_are_illegal(name: str) -> None:
    made = run(f"li t0, 0x6000\ncsrc mstatus, t0\ncsrr a0, {name}\nfmv.w.x f0, zero\nflw f0, 0(s11)")
    assert made.causes == [2, 2, 2]


def test_any_state_of_floats_that_is_not_off_is_dirty() -> None:
    made = run("li t0, 0x6000\ncsrc mstatus, t0\nli t0, 0x2000\ncsrs mstatus, t0\ncsrr a0, mstatus\nkeep a0")
    assert made.kept == (0x8000_000A_0000_7800,)


def test_a_reserved_previous_privilege_becomes_user() -> None:
    made = run("li t0, 0x800\ncsrc mstatus, t0\ncsrr a0, mstatus\nkeep a0")
    assert made.kept[0] >> 11 & 3 == 0


def test_supervisor_interrupts_are_those_that_are_delegated() -> None:
    source = "li a0, 0x202\ncsrw mideleg, a0\nli a0, -1\ncsrw sie, a0\ncsrr a1, mie\nkeep a1\ncsrr a1, sie\nkeep a1"
    assert run(source).kept == (0x202, 0x202)
    source = "li a0, 0x202\ncsrw mideleg, a0\nli a0, -1\ncsrw sip, a0\ncsrr a1, mip\nkeep a1\ncsrr a1, sip\nkeep a1"
    assert run(source).kept == (2, 2)


def test_roots_of_page_tables_take_only_modes_that_exist() -> None:
    source = """
        li a0, 0x7000000000000123
        csrw satp, a0
        csrr a1, satp
        keep a1
        li a0, 0x8ffffffffffff123
        csrw satp, a0
        csrr a1, satp
        keep a1
        csrwi satp, 0
        li a0, 0x0800000000000000
        csrw matp, a0
        csrwi matp, 1
        csrr a1, matp
        keep a1
    """
    assert run(source).kept == (0, 0x8000_0000_0FFF_F123, 0x0800_0000_0000_0000)


def test_masks_of_a_convolution() -> None:
    size = 1 << 56 | 3 << 32 | 2 << 24 | 9  # rows step 1 of 3, columns step 2 of 9
    control = 0xFFFF << 32 | 0  # from row -1
    source = f"li a0, {size}\ncsrw tensor_conv_size, a0\nli a0, {control}\ncsrw tensor_conv_ctrl, a0"
    inside = sum(1 << i for i in range(16) if 0 <= i - 1 < 3 and 0 <= 2 * i < 9)
    assert run(source + "\ncsrr a1, tensor_mask\nkeep a1").kept == (inside,)


def test_the_second_hart_has_registers_of_its_own_and_no_tensor_unit() -> None:
    from polyloom._native.minion import Chip

    assert Chip is not None
    source = """
        li s11, 0x8000900000
        csrr s10, mhartid
        slli t0, s10, 6
        add s11, s11, t0
        la t0, handler
        csrw mtvec, t0
        slli t0, s10, 4
        addi t0, t0, 3
        csrw tensor_mask, t0
        csrw mscratch, t0
        csrr t1, tensor_mask
        sd t1, 0(s11)
        csrr t1, mscratch
        sd t1, 8(s11)
        csrw tensor_fma, zero
        csrw tensor_load, zero
        csrw tensor_conv_size, zero
        li t0, 0x1FEED000
        csrw validation0, t0
    stay: j stay
        .balign 4096
    handler:
        ld t0, 16(s11)
        addi t0, t0, 1
        sd t0, 16(s11)
        csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        .word 0x30200073
    """
    made = run(source, bare=True, look=(0x80_0090_0000, 128))
    words = [int.from_bytes(made.memory[8 * n : 8 * n + 8], "little") for n in range(16)]
    assert words[0:2] == [3, 3]
    assert words[8:11] == [19, 19, 2]


@pytest.mark.parametrize(
    ("feature", "name", "legal"),
    [
        (2, "tensor_mask", False),
        (2, "flb", False),
        (2, "tensor_error", True),
        (4, "evict_va", False),
        (4, "lock_va", False),
        (8, "ucache_control", False),
        (8, "evict_va", True),
        (32, "lock_va", False),
        (32, "evict_va", True),
    ],
)
def test_features_that_are_turned_off(feature: int, name: str, legal: bool) -> None:
    made = run(f"li t0, 0x1c0340000\nli t1, {feature}\nsd t1, 0(t0)\ncsrr a0, {name}")
    assert made.causes == ([] if legal else [2])


@MODES
def test_cache_operations_and_features_at_the_beginning(functional: bool) -> None:
    """As in the vendor's emulator: eight cache operations at once, and no graphics instructions."""
    modes = "csrwi mcache_control, 1\ncsrwi mcache_control, 3\ncsrr a0, ucache_control\nkeep a0\n"
    feature = f"li a1, {FEATURE}\nld a0, 0(a1)\nkeep a0\n"
    assert list(run(modes + feature, functional).kept) == [0x203, 1]


@MODES
def test_graphics_instructions_wait_for_their_feature(functional: bool) -> None:
    mix = "li a1, 0xaa11\nli a2, 0xbb22\nli a0, 0\nbitmixb a0, a1, a2\nkeep a0\n"
    made = run(f"{mix}li a3, {FEATURE}\nsd zero, 0(a3)\n{mix}", functional)
    assert (made.causes, list(made.kept)) == ([2], [0, 0xF895])
