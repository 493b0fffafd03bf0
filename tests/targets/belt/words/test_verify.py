# SPDX-License-Identifier: Apache-2.0
"""The verifier: a loop that is right, and everything that it finds in wrong ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.targets.belt.words.programs import SIGNATURE
from tests.targets.belt.words.programs import program as random_program

from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt import machine
from polyloom.targets.belt.codes import CODES
from polyloom.targets.belt.run import model
from polyloom.targets.belt.run.timeline import timeline
from polyloom.targets.belt.words import belt_file, conasm_read
from polyloom.targets.belt.words.conasm import print_program
from polyloom.targets.belt.words.decode import decode
from polyloom.targets.belt.words.encode import encode
from polyloom.targets.belt.words.listing import listing
from polyloom.targets.belt.words.program import Program
from polyloom.targets.belt.words.verify import check_routine, verify

SUM = (Path(__file__).parent / "sum.conasm").read_text(encoding="utf-8")
HEAD = "member silver\n"


def read(text: str) -> Program:
    return conasm_read.read(text)[0]


def changed(old: str, new: str) -> Program:
    assert SUM.count(old) == 1, f"{old!r} stands {SUM.count(old)} times"
    return read(SUM.replace(old, new))


def findings(program: Program) -> list[str]:
    return [f"{d.code} {d.message}" for d in verify(program)]


def test_nothing_in_a_right_program() -> None:
    assert findings(read(SUM)) == []


def test_the_belt_fills_up_in_the_passes_of_a_loop() -> None:
    program = read(SUM)
    facts = check_routine(program, program.routines[0], machine.member("silver"))[1]
    assert facts.lengths == {0: 2, 1: 3, 2: 3, 3: 16, 4: 16, 5: 4}
    assert facts.stations == {0: 0, 1: 0, 2: 0, 3: 2, 4: 1, 5: 0}


def test_the_listing_reads_back(golden: Callable[[str, str], None]) -> None:
    program, signature = conasm_read.read(SUM)
    text = listing(program, signature)
    golden("sum", text)
    assert conasm_read.read(text) == (program, signature)


STRAIGHT = "routine f (w) -> (w)\n  0: {} : drops {}\n  1: F0 retn(b0) : drops 0\n"
WRONG = {
    "slot_without_the_unit": ("E0 eql(", "W2 eql("),
    "slot_twice": ("F1 con.w(0)", "F0 con.w(0)"),
    "slot_that_is_not_there": ("E1 add(b1 %a", "E4 add(b1 %a"),
    "operation_that_the_member_lacks": ("E1 add(b1 %a", "E1 mins(b1 %a"),
    "operation_that_fuses": ("E1 add(b1 %a, b0 %s)", "E1 shladd.w(b1 %a, b0 %s, 1)"),
    "position_of_another_operand": ("recur(b5 %s2", "recur(b6 %s2"),
    "position_never_filled": ("leavetr(b9 %q", "leavetr(b13 %q"),
    "position_beyond_the_belt": ("leavetr(b9 %q", "leavetr(b16 %q"),
    "too_few_drops": ("drops 6", "drops 5"),
    "too_many_drops": ("drops 6", "drops 7"),
    "drops_in_open_code": ("-> %i : drops 1", "-> %i : drops 2"),
    "scratch_beyond": ("%x) at 4 : drops 0", "%x) at 8 : drops 0"),
    "scratch_misaligned": ("%x) at 4 : drops 0", "%x) at 2 : drops 0"),
    "scratch_too_large": ("scratchf(8)", "scratchf(520)"),
    "scratch_frames": ("scratchf(8) frames 0 of 0", "scratchf(8) frames 1 of 8"),
    "target_beyond": ("to 5 s1", "to 6 s1"),
    "no_pass_there": ("b0 %i) to 3", "b0 %i) to 4"),
    "pass_without_inner": ("F0 inner(none.w, none.b, none.w, none.w, b0 %i) to 3 : drops 0", ": drops 0"),
    "loop_that_enters_itself": ("leavetr(b9 %q, b0 %s2) to 5", "inner(none.w, none.b, none.w, none.w, b6) to 3"),
    "runs_past_the_end": ("retn(b0 %s2)", "con.w(0)"),
    "leave_without_inner": ("retn(b0 %s2)", "leave(b0) to 5"),
    "too_few_results": ("retn(b0 %s2)", "retn()"),
    "width_of_a_spill": ("spillx.w(b1 %x)", "spillx.d(b1 %x)"),
    "width_of_a_result": ("%q, b0 %s2)", "%q, b1 %s2)"),
    "recur_without_a_none": ("recur(b5 %s2", "recur(b1 %i2"),
    "delay": ("delay 3", "delay 21"),
    "leave_that_acts_early": ("inner(none.w, none.b,", "inner(none.w, b0,"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str, golden: Callable[[str, str], None]) -> None:
    found = verify(changed(*WRONG[name]))
    assert found
    golden(f"verify_{name}", "\n".join(d.render() for d in found))


def test_a_division_holds_its_slot() -> None:
    text = HEAD + (
        "routine f (w) -> (w)\n  0: E0 divs(b0, 3) : drops 0\n  1: E0 add(b0, 1) : drops 1\n"
        + "".join(f"  {n}: : drops 0\n" for n in range(2, 15))
        + "  15: : drops 1\n  16: F0 retn(b0) : drops 0\n"
    )
    assert findings(read(text)) == [
        "PL1010 f, bundle 1, E0 add: a division holds E0, until bundle 16 if control goes straight on"
    ]
    assert findings(read(text.replace("1: E0 add", "1: E1 add"))) == []


def test_loads_hold_stations() -> None:
    loads = " | ".join(f"F{n} load.w(b0 + {4 * n}) delay 7" for n in range(3))
    rows = [f"  {n}: {loads} : drops 0\n" for n in range(6)]
    rest = [f"  {n}: : drops 3\n" for n in range(6, 12)]
    text = HEAD + "routine f (w) -> (w)\n" + "".join(rows + rest) + "  12: F0 retn(b0) : drops 0\n"
    assert findings(read(text)) == [
        "PL1014 f, bundle 5: 18 loads under way, but silver has 16 stations",
        "PL1014 f, bundle 6: 18 loads under way, but silver has 16 stations",
    ]


def test_a_fill_waits_for_its_spill() -> None:
    text = HEAD + (
        "routine f (w) -> (w)\n  0: F0 scratchf(8) frames 0 of 0 | W0 spillx.w(b0) at 0 : drops 0\n{}"
        "  {}: R0 fillx.w() at 0 | F0 retn(b0) : drops 1\n"
    )
    assert findings(read(text.format("", 1))) == [
        "PL1015 f, bundle 1, R0 fillx: byte 0 was spilled in the bundle before"
    ]
    assert findings(read(text.format("  1: : drops 0\n", 2))) == []


def test_frames_rotate() -> None:
    """What was spilled in the bundle before has moved by a frame where the next one rotates."""
    text = HEAD + (
        "routine f (w) -> (w)\n  0: F0 scratchf(16) frames 2 of 8 | W0 spill.w(b0) at 4 : drops 0\n"
        "  1: R0 fill.w() at {} | F0 retn(b0) : drops 1 rotate\n"
    )
    assert findings(read(text.format(4))) == []
    assert findings(read(text.format(12))) == ["PL1015 f, bundle 1, R0 fill: byte 12 was spilled in the bundle before"]


def test_without_phases_results_drop_at_the_end() -> None:
    text = "member silver unphased\nroutine f (w) -> (w)\n  0: F0 con.w(3) : drops 1\n{}  {}: F0 retn(b{}) : drops 0\n"
    assert findings(read(text.format("", 1, 0))) == []
    reads = "member silver unphased\nroutine f () -> (w)\n  0: F0 con.w(3) | F1 retn(b0) : drops 1\n"
    assert findings(read(reads)) == ["PL1012 f, bundle 0, F1 retn: it reads b0, but the belt has no operand"]


def test_what_is_computed_of_a_missing_result_has_no_shape() -> None:
    """In the first pass the vector is a None without lanes: no spill contradicts it."""
    text = HEAD + (
        "routine f () -> ()\n  0: F0 scratchf(64) frames 0 of 0 : drops 0\n  1: F0 inner(none) to 2 : drops 0\n"
        "  2: E0 smearx(b0) | F0 leave() to 3 | W0 spillx.bx8(b1) at 0 : drops 2 back 1\n  3: F0 retn() : drops 0\n"
    )
    assert findings(read(text)) == []
    assert "PL1017" in findings(read(text.replace("none", "none.b")))[0]


def test_calls_take_and_give_what_the_callee_says() -> None:
    text = HEAD + (
        "routine f (w) -> (w)\n  0: F0 call g(b0) | F1 retn(b0) : drops 2\n"
        "routine g (w, w) -> (d, w)\n  0: F0 con.d(1) | F1 con.w(2) | F2 retn(b1, b0) : drops 2\n"
    )
    assert findings(read(text)) == [
        "PL1017 f, bundle 0, F0 call: its list has 1 operand, g takes 2",
        "PL1017 f, bundle 0, F1 retn: operand 0 of its list is d, not w",
    ]


@pytest.mark.parametrize(("stage", "count"), [(0, 1), (1, 0), (2, 0), (3, 1)])
def test_stores_stay_in_the_windows_of_leaves(stage: int, count: int) -> None:
    """The leave is at 3, the interval 2: a store in row 0 is done at 2 * stage, which must be in 2 ... 5."""
    found = findings(changed("F1 con.w(0)", f"F2 store.w(b1, b0) s{stage} | F1 con.w(0)"))
    assert [f[:6] for f in found].count("PL1019") == count


def test_every_finding_has_a_code_of_the_target() -> None:
    found = {d.code for case in WRONG.values() for d in verify(changed(*case))}
    assert found <= set(CODES)
    assert len(found) >= 8


def test_a_routine_without_bundles() -> None:
    program = read(SUM)
    empty = replace(program, routines=(replace(program.routines[0], bundles=(), loops=()),))
    assert findings(empty) == ["PL1016 sum, bundle 0: the routine has no bundle"]


@pytest.mark.parametrize("seed", range(25))
def test_whatever_decodes_is_verified_listed_and_drawn(seed: int) -> None:
    rng, silver = Random(seed), machine.member("silver")
    code = bytearray(encode(read(SUM)))
    for _ in range(rng.randint(1, 3)):
        code[rng.randrange(8, len(code))] ^= 1 << rng.randrange(8)
    programs = [random_program(seed)]
    with suppress(PolyloomError):
        programs.append(decode(bytes(code), silver))
    for made in programs:
        assert all(d.code in CODES and d.help for d in verify(made))
        assert conasm_read.read(listing(made, SIGNATURE)) == (conasm_read.read(print_program(made, SIGNATURE)))
        assert timeline(made)


def test_the_timeline_is_that_of_the_positions(golden: Callable[[str, str], None]) -> None:
    """The furthest position of each result is the greatest that an operand names."""
    drawn = timeline(read(SUM))
    golden("sum_timeline", drawn)
    positions = re.findall(r"^\S+ +[A-Z]\d \w+ +(b\d+)", drawn, re.MULTILINE)
    assert positions == ["b7", "b1", "b4", "b1", "b3", "b0", "b9", "b5"]


def test_the_example_of_the_page() -> None:
    """docs/formats.md: the text is what `listing` prints, and the load, which is longer under way, ends nearer the
    front."""
    page = (Path(__file__).parents[4] / "docs" / "formats.md").read_text(encoding="utf-8")
    (text,) = (block for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) if block.startswith("member"))
    program, signature = conasm_read.read(text)
    assert findings(program) == []
    assert listing(program, signature) == text
    array = np.arange(8, dtype=np.int32)
    assert model.run(belt_file.write(program, signature), [3, array]).results == ((5,),)
