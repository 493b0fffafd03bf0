# SPDX-License-Identifier: Apache-2.0
"""When instructions issue: cycles per turn of a loop whose body is known. Source: minion.md, "Time"."""

import pytest
from tests.targets.minion.core.machine import FREE, Machine, run

TURNS = 400


def loop(body: str, before: str = "", turns: int = TURNS) -> Machine:
    aligned = "j again\n.balign 64\nagain:"
    return run(f"li s0, {turns}\nli a0, {FREE}\n{before}\n{aligned}\n{body}\naddi s0, s0, -1\nbnez s0, again")


def cycles(body: str, before: str = "") -> int:
    """Of one turn, without what begins and ends the program. The loop alone takes 4: two instructions, of which the
    branch is taken and takes 3."""
    # Twice as many turns begin alike, wherever a refresh of DRAM meets the first accesses.
    more, made = (loop(body, before, turns).result["cycles"] for turns in (2 * TURNS, TURNS))
    turns = (more - made) / TURNS - 4
    assert abs(turns - round(turns)) < 0.5
    return round(turns)


def test_an_empty_loop() -> None:
    longer = run(f"li s0, {2 * TURNS}\nagain: addi s0, s0, -1\nbnez s0, again").result["cycles"]
    shorter = run(f"li s0, {TURNS}\nagain: addi s0, s0, -1\nbnez s0, again").result["cycles"]
    assert (longer - shorter) / TURNS == 4


@pytest.mark.parametrize(
    ("body", "takes"),
    [
        ("addi a1, a1, 1", 1),
        ("addi a1, a1, 1\nadd a2, a1, a1\nxor a3, a2, a1", 3),
        ("mulw a1, a1, a2", 1),  # nobody waits for it within a turn
        ("mul a1, a1, a2", 4),  # but the next one, for the unit
        ("mul a1, a1, a2\nadd a3, a1, a1", 9),
        ("mulw a1, a1, a2\nadd a3, a1, a1", 5),
        ("mul a1, a2, a3\nmul a4, a5, a6\nadd a7, a4, a4", 17),  # one unit
        ("div a1, a2, a3\nadd a4, a1, a1", 66),
        ("divw a1, a2, a3\nadd a4, a1, a1", 34),
        ("ld a1, 0(a0)", 1),
        ("ld a1, 0(a0)\nadd a2, a1, a1", 6),
        ("ld a1, 0(a0)\nnop\nnop\nadd a2, a1, a1", 6),
        ("sd a1, 0(a0)\nsd a2, 8(a0)", 2),
        ("fadd.s f1, f2, f3, rne\nfadd.s f4, f1, f1, rne", 8),
        ("fadd.s f1, f2, f3, rne\nfadd.s f4, f2, f2, rne", 2),
        ("fmul.s f1, f2, f3, rne\nfmv.x.w a1, f1\nadd a2, a1, a1", 10),
        ("fsgnj.s f1, f2, f3\nfsgnj.s f4, f1, f1", 3),
        ("flw f1, 0(a0)\nfadd.s f2, f1, f1, rne", 6),
        ("beq zero, zero, 1f\n1: nop", 4),
        ("bne zero, zero, 1f\n1: nop", 2),
        ("fadd.ps f1, f2, f3\nfadd.ps f4, f1, f1", 8),
        ("fadd.pi f1, f2, f3\nfadd.pi f4, f1, f1", 3),
    ],
)
def test_latencies(body: str, takes: int) -> None:
    assert cycles(body, "flq2 f1, 0(a0)\nld a1, 0(a0)") == takes


def test_control_registers_wait_for_the_pipeline_unless_they_need_not() -> None:
    assert cycles("ld a1, 0(a0)\ncsrw mscratch, zero", "ld a1, 0(a0)") == 6
    assert cycles("ld a1, 0(a0)\ncsrwi tensor_wait, 0", "ld a1, 0(a0)") == 2


def test_a_line_of_instructions_that_is_not_there_takes_47() -> None:
    near = run("j 1f\n.balign 64\n1: nop").result["cycles"]
    far = run("j 1f\n.balign 64\n1: nop\nj 2f\n.balign 256\n2: nop").result["cycles"]
    assert far - near == 47 + 3 + 1


def test_lines_beyond_l1_come_again() -> None:
    """Five lines of one set go round in four ways."""
    lines = "".join(f"li t0, {FREE + 1024 * n}\nld a1, 0(t0)\nadd a2, a1, a1\n" for n in range(5))
    four = "".join(f"li t0, {FREE + 1024 * n}\nld a1, 0(t0)\nadd a2, a1, a1\n" for n in range(4))
    assert cycles(lines) >= 5 * 36  # of the shire's read buffer
    assert cycles(four) < 4 * 12


def test_a_line_on_its_way_is_late_for_every_load() -> None:
    one = run(f"li a0, {FREE}\nld a1, 0(a0)\nadd a3, a1, a1").result["cycles"]
    two = run(f"li a0, {FREE}\nld a1, 0(a0)\nld a2, 8(a0)\nadd a3, a2, a2").result["cycles"]
    assert 0 <= two - one <= 2


def test_an_access_across_two_lines_needs_both() -> None:
    one = run(f"li a0, {FREE}\nld a1, 0(a0)\nadd a3, a1, a1").result["cycles"]
    two = run(f"li a0, {FREE}\nld a1, 60(a0)\nadd a3, a1, a1\nld a1, 64(a0)\nadd a3, a1, a1").result["cycles"]
    assert 0 < two - one < 100


def both_harts(first: str, second: str) -> int:
    """Cycles until both harts of a minion have done their loops."""
    source = f"""
        csrr t0, mhartid
        li s0, {TURNS}
        li a0, {FREE}
        bnez t0, second
    first: {first}
        addi s0, s0, -1
        bnez s0, first
        j end
    second: {second}
        addi s0, s0, -1
        bnez s0, second
    end:
        li t0, 0x1FEED000
        csrw validation0, t0
    stay: j stay
    """
    return run(source, bare=True).result["cycles"]


def test_two_harts_share_the_slot() -> None:
    work = "\n".join(["addi a1, a1, 1"] * 12)
    alone, both = both_harts(work, ""), both_harts(work, work)
    # A loop of 14 instructions takes 16 cycles by itself; two have 28 instructions for one slot.
    assert abs(both - 28 * TURNS) < 300
    assert abs(alone - 16 * TURNS) < 5 * TURNS


def test_a_hart_issues_while_the_other_waits() -> None:
    waits, works = "div a1, a2, a3\nadd a4, a1, a1", "\n".join(["addi a1, a1, 1"] * 12)
    assert abs(both_harts(waits, works) - 70 * TURNS) < 1000


def test_every_run_is_the_same() -> None:
    assert run("mul a0, a0, a0\nld a1, 0(s11)").result == run("mul a0, a0, a0\nld a1, 0(s11)").result
