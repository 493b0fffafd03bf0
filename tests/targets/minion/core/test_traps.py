# SPDX-License-Identifier: Apache-2.0
"""Traps: every cause with its value and pc, delegation, returns, interrupts. Source: The RISC-V Instruction Set Manual,
Volume II, chapters 3 and 12; facts §2."""

import pytest
from tests.targets.minion.core.machine import CODE, MRET, RESET, SRET, WFI, run

MODES = pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])

CAUSES = {
    "illegal word": (".word 0xffffffff", 2, 0xFFFFFFFF),
    "standard atomics": (".word 0x0005252f", 2, 0x0005252F),
    "breakpoint": ("here: ebreak", 3, "here"),
    "load of I/O": ("li a0, 0x1000\nld a1, 0(a0)", 5, 0x1000),
    "load of PCIe": ("li a0, 0x4000000000\nld a1, 0(a0)", 5, 0x4000000000),
    "load beyond the scratchpad": ("li a0, 0x80280000\nld a1, 0(a0)", 5, 0x80280000),
    "load of a word of an ESR": ("li a0, 0x100340100\nlw a1, 0(a0)", 5, 0x100340100),
    "store to the service processor": ("li a0, 0x40000000\nsd a1, 0(a0)", 7, 0x40000000),
    "store to a byte of an ESR": ("li a0, 0x100340100\nsb a1, 0(a0)", 7, 0x100340100),
    "store to an ESR, misaligned": ("li a0, 0x100340104\nsd a1, 0(a0)", 7, 0x100340104),
    "ecall": ("ecall", 11, 0),
    "fdiv.s": ("fdiv.s f0, f1, f2, rne", 30, 0x18208053),
    "fsqrt.s": ("fsqrt.s f0, f1, rne", 30, 0x58008053),
    "fcvt.l.s": ("fcvt.l.s a0, f1, rtz", 30, 0xC0209553),
    "fcvt.lu.s": ("fcvt.lu.s a0, f1, rtz", 30, 0xC0309553),
    "fcvt.s.l": ("fcvt.s.l f1, a0, rne", 30, 0xD02500D3),
    "fcvt.s.lu": ("fcvt.s.lu f1, a0, rne", 30, 0xD03500D3),
    "rounding mode 5": (".word 0x00005053", 2, 0x00005053),
}


@MODES
@pytest.mark.parametrize("name", CAUSES)
def test_causes(name: str, functional: bool) -> None:
    source, cause, value = CAUSES[name]
    made = run(source, functional)
    expected = made.labels[value] if isinstance(value, str) else value
    assert [taken[:2] for taken in made.traps] == [(cause, expected)]


def test_a_fetch_outside_dram() -> None:
    source = """
        la t0, other
        csrw mtvec, t0
        li a0, 0x80000000
        jr a0
        .balign 4096
    other:
        csrr a1, mcause
        keep a1
        csrr a1, mtval
        keep a1
        csrr a1, mepc
        keep a1
    """
    assert run(source).kept == (1, 0x80000000, 0x80000000)


def test_registers_and_pc_are_as_before_a_trap() -> None:
    made = run("li a0, 5\nfault: ld a0, 0(zero)\nkeep a0")
    assert made.kept == (5,)
    assert made.traps == [(5, 0, made.labels["fault"])]


def test_a_trap_without_a_handler_ends_the_run() -> None:
    made = run("nop\nhere: ebreak", bare=True)
    result = made.result
    assert (result["stop"], result["cause"], result["pc"], result["value"]) == ("trap", 3, CODE + 4, CODE + 4)
    assert result["word"] == 0x00100073


LOWER = f"""
    li t0, 0x1800
    csrc mstatus, t0
    li t0, PRIVILEGE
    csrs mstatus, t0
    la t0, lower
    csrw mepc, t0
    {MRET}
lower:
"""


@MODES
@pytest.mark.parametrize(("level", "cause"), [(0, 8), (1, 9), (3, 11)])
def test_calls_by_privilege(level: int, cause: int, functional: bool) -> None:
    made = run(LOWER.replace("PRIVILEGE", str(level << 11)) + "ecall", functional)
    assert made.causes[0] == cause


def test_the_first_8_mib_of_dram_are_for_machine_mode() -> None:
    source = LOWER.replace("PRIVILEGE", "0")
    inside = run(source + "nop", entry=RESET)  # where its next instruction is out of reach
    assert inside.traps[0] == (1, inside.labels["lower"], inside.labels["lower"])
    assert run(source + f"li a0, {RESET}\nld a1, 0(a0)\nsd a1, 0(a0)\necall").causes[:3] == [5, 7, 8]


def supervised(body: str, delegated: int) -> str:
    """A body in user mode, from a page that it may reach, with a handler in supervisor mode."""
    return f"""
        la a0, first
        la a1, last
        li a2, 0x8000a00000
    copy:
        ld t0, 0(a0)
        sd t0, 0(a2)
        addi a0, a0, 8
        addi a2, a2, 8
        bltu a0, a1, copy
        .word 0x0000100f
        li t0, {delegated}
        csrw medeleg, t0
        li t0, 0x8000a00000
        csrw stvec, t0
        li t0, 0x1800
        csrc mstatus, t0
        li t0, 0x8000a00100
        csrw mepc, t0
        {MRET}
        .balign 256
    first:
        csrr a3, scause
        keep a3
        csrr a3, sepc
        keep a3
        csrr a3, stval
        keep a3
        csrr a3, sstatus
        keep a3
        csrr a3, sepc
        addi a3, a3, 4
        csrw sepc, a3
        {SRET}
        .balign 256
        {body}
        .balign 8
    last:
        nop
    """


@MODES
def test_a_delegated_trap_goes_to_supervisor_mode_and_back(functional: bool) -> None:
    made = run(supervised("ecall\ncsrr a0, sscratch", 1 << 8), functional)
    cause, pc, value, status = made.kept[:4]
    assert (cause, pc, value) == (8, 0x80_00A0_0100, 0)
    assert status >> 8 & 1 == 0  # from user mode
    assert made.causes[0] == 2  # sscratch is not for user mode, and illegal instructions cannot be delegated


def test_a_breakpoint_is_delegated() -> None:
    assert run(supervised("ebreak\necall", 1 << 3)).kept[:3] == (3, 0x80_00A0_0100, 0x80_00A0_0100)


def test_returns_need_their_privilege() -> None:
    assert run(supervised(f"{MRET}\n{SRET}\necall", 0)).causes[:2] == [2, 2]


@MODES
def test_a_software_interrupt_of_another_hart_ends_a_sleep(functional: bool) -> None:
    source = f"""
        csrr s10, mhartid
        li s11, 0x8000900000
        bnez s10, second
        la t0, handler
        csrw mtvec, t0
        csrwi mie, 8
        csrsi mstatus, 8
        {WFI}
        nop
        li t0, 1
        sd t0, 16(s11)
        j end
    second:
        li t0, 2000
    1:  addi t0, t0, -1
        bnez t0, 1b
        li t0, 0x1c0340090
        li t1, 1
        sd t1, 0(t0)
    end:
        li t0, 0x1FEED000
        csrw validation0, t0
    stay: j stay
        .balign 4096
    handler:
        csrr t0, mcause
        sd t0, 0(s11)
        li t0, 0x1c0340098
        li t1, 1
        sd t1, 0(t0)
        csrr t0, mip
        sd t0, 8(s11)
        {MRET}
    """
    made = run(source, functional, bare=True, look=(0x80_0090_0000, 24))
    words = [int.from_bytes(made.memory[8 * n : 8 * n + 8], "little") for n in range(3)]
    assert made.result["stop"] == "passed"
    assert words == [0x8000_0000_0000_0003, 0, 1]


@MODES
def test_interrupts_that_become_enabled_are_taken_behind_the_instruction(functional: bool) -> None:
    made = run(
        "li t0, 0x2\ncsrw mie, t0\ncsrw mip, t0\nli a0, 1\ncsrsi mstatus, 8\nafter: li a0, 2\nkeep a0", functional
    )
    # The handler returns to where the interrupt is pending still: the program never goes on.
    assert made.result["stop"] == "max-cycles"
    assert made.traps[0] == (0x8000_0000_0000_0001, 0, made.labels["after"])


def test_vectored_interrupts() -> None:
    source = """
        la t0, vector
        addi t0, t0, 1
        csrw mtvec, t0
        li t0, 0x2
        csrw mie, t0
        csrw mip, t0
        csrsi mstatus, 8
        j end
        .balign 4096
    vector: j wrong
        csrr a0, mcause
        keep a0
        csrw mie, zero
        la t0, end
        csrw mepc, t0
        j end
    wrong: li a0, 7
        keep a0
    """
    assert run(source).kept[0] == 0x8000_0000_0000_0001


def test_wfi_with_a_pending_interrupt_goes_on() -> None:
    assert run(f"li t0, 0x2\ncsrw mie, t0\ncsrw mip, t0\n{WFI}\nli a0, 3\nkeep a0").kept == (3,)


def test_the_exclusive_hart_runs_alone() -> None:
    source = """
        csrr s10, mhartid
        li s11, 0x8000900000
        bnez s10, second
        csrwi excl_mode, 1
        li t0, 3000
    1:  addi t0, t0, -1
        bnez t0, 1b
        ld t1, 0(s11)
        sd t1, 8(s11)
        csrwi excl_mode, 0
        j end
    second:
        li t0, 500
    1:  addi t0, t0, -1
        bnez t0, 1b
        li t0, 1
        sd t0, 0(s11)
    end:
        li t0, 0x1FEED000
        csrw validation0, t0
    stay: j stay
    """
    made = run(source, bare=True, look=(0x80_0090_0000, 16))
    assert made.memory == bytes([1] + 15 * [0])
