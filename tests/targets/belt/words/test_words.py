# SPDX-License-Identifier: Apache-2.0
"""Words, files and conasm: what is written reads back, in one form each, and nothing else is taken."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.targets.belt.words.programs import SIGNATURE
from tests.targets.belt.words.programs import program as random_program

from polyloom import binary
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.codes import CODES
from polyloom.targets.belt.machine import Slot, member
from polyloom.targets.belt.words import belt_file, conasm, conasm_read
from polyloom.targets.belt.words.decode import decode
from polyloom.targets.belt.words.encode import encode
from polyloom.targets.belt.words.program import Belt, Bundle, Immediate, Issue, Program, Routine

SILVER = member("silver")
SEEDS = range(25)
F0, E0 = Slot("F", 0), Slot("E", 0)
RETURN = Bundle((Issue("retn", F0),), 0)


def program(*issues: Issue, loops: tuple[tuple[int, int], ...] = ()) -> Program:
    routine = Routine("f", (Bundle(issues, len(issues)), RETURN), loops)
    return Program("silver", True, SILVER.description, (routine,))


def bare(made: Program) -> Program:
    """Without what words do not have: notes and data."""
    plain = tuple(
        replace(routine, bundles=tuple(replace(bundle, notes=()) for bundle in routine.bundles))
        for routine in made.routines
    )
    return replace(made, routines=plain, data=(), memory_arguments=(), told="{}")


@pytest.mark.parametrize("seed", SEEDS)
def test_decoding_gives_what_was_encoded(seed: int) -> None:
    made = random_program(seed)
    code = encode(made)
    machine = member(made.member, made.phasing)
    assert decode(code, machine, [r.name for r in made.routines]) == bare(made)
    assert encode(decode(code, machine)) == code


@pytest.mark.parametrize("seed", SEEDS)
def test_files_read_back(seed: int) -> None:
    made = random_program(seed)
    data = belt_file.write(made, SIGNATURE)
    found = belt_file.read(data, member(made.member, made.phasing))
    assert (found.program, found.signature) == (made, SIGNATURE)
    assert belt_file.write(found.program, found.signature) == data


@pytest.mark.parametrize("seed", SEEDS)
def test_conasm_gives_the_same_bytes(seed: int) -> None:
    made = random_program(seed)
    text = conasm.print_program(made, SIGNATURE)
    again, signature = conasm_read.read(text)
    assert belt_file.write(again, signature) == belt_file.write(made, SIGNATURE)
    assert conasm.print_program(again, signature) == text


@given(st.binary(max_size=64).map(lambda data: data + bytes(-len(data) % 8)) | st.binary())
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        assert encode(decode(data, SILVER)) == data
    except PolyloomError as error:
        assert error.code == "PL1005"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_other_words_decode_to_a_program(seed: int) -> None:
    made, rng = random_program(seed), Random(seed)
    # A changed bit is another program, or none.
    code = bytearray(encode(made))
    code[rng.randrange(len(code))] ^= 1 << rng.randrange(8)
    machine = member(made.member, made.phasing)
    try:
        assert encode(decode(bytes(code), machine)) == code
    except PolyloomError as error:
        assert error.code == "PL1005"


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_files_are_refused(seed: int) -> None:
    made, rng = random_program(seed), Random(seed)
    whole = bytearray(belt_file.write(made, SIGNATURE))
    whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    with pytest.raises(PolyloomError) as error:
        belt_file.read(bytes(whole))
    assert error.value.code in ("PL0701", "PL0702", "PL0703", "PL0704", "PL0705")


@pytest.mark.parametrize("seed", SEEDS)
def test_short_files_are_refused(seed: int) -> None:
    made, rng = random_program(seed), Random(seed)
    whole = belt_file.write(made, SIGNATURE)
    with pytest.raises(PolyloomError) as error:
        belt_file.read(whole[: rng.randrange(len(whole))])
    assert error.value.code in ("PL0701", "PL0702")


@pytest.mark.parametrize("seed", SEEDS)
def test_changed_sections_are_refused_or_another_program(seed: int) -> None:
    made, rng = random_program(seed), Random(seed)
    # The checksum repaired: what still reads is written as it stands.
    stamp, sections = binary.unpack(belt_file.KIND, belt_file.write(made, SIGNATURE))
    parts = [bytearray(s.data[s.position : s.end]) for s in sections]
    part = rng.choice([p for p in parts if p])
    part[rng.randrange(len(part))] ^= 1 << rng.randrange(8)
    changed = binary.pack(belt_file.KIND, stamp, [bytes(p) for p in parts])
    try:
        found = belt_file.read(changed)
    except PolyloomError as error:
        assert error.diagnostics[0].help
    else:
        assert belt_file.write(found.program, found.signature) == changed


@pytest.mark.parametrize("seed", SEEDS)
def test_any_text_reads_or_is_refused_at_its_place(seed: int) -> None:
    rng = Random(seed)
    text = conasm.print_program(random_program(seed), SIGNATURE)
    for _ in range(10):
        at = rng.randrange(len(text))
        changed = text[:at] + "".join(rng.choices("b0 %(;|\n-x@", k=rng.randrange(3))) + text[at + rng.randrange(3) :]
        try:
            conasm_read.read(changed)
        except PolyloomError as error:
            assert error.diagnostics[0].span is not None
            assert error.code in CODES or error.code.startswith("PL03")


def test_issues_are_written_in_the_order_of_slots() -> None:
    issues = (Issue("con", F0, width="w", literal=7), Issue("add", E0, (Belt(0), Immediate(1))))
    assert encode(program(*issues)) == encode(program(*reversed(issues)))


REFUSED = {
    "a position that is too far": Issue("add", E0, (Belt(63), Belt(0))),
    "no operand": Issue("add", E0),
    "an immediate first": Issue("add", E0, (Immediate(1), Belt(0))),
    "an immediate that is too large": Issue("add", E0, (Belt(0), Immediate(128))),
    "an immediate for a float": Issue("addf", E0, (Belt(0), Immediate(1))),
    "a width that operands tell": Issue("add", E0, (Belt(0), Belt(0)), width="w"),
    "no width for a product": Issue("mul", E0, (Belt(0), Belt(0))),
    "lanes that operands tell": Issue("add", E0, (Belt(0), Belt(0)), lanes=4),
    "three lanes": Issue("load", F0, (Belt(0),), width="w", lanes=3, delay=3),
    "an offset that is too large": Issue("load", F0, (Belt(0),), width="w", offset=2048, delay=3),
    "a load without a delay": Issue("load", F0, (Belt(0),), width="w"),
    "an index without a scale": Issue("load", F0, (Belt(0), Belt(1)), width="w", delay=3),
    "a literal that is too wide": Issue("con", F0, width="b", literal=256),
    "more frames than bytes": Issue("scratchf", F0, offset=8, frame=8, frames=2),
    "a slot that is too far": Issue("con", Slot("F", 32), width="w"),
    "no callee": Issue("call", F0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_word_holds_is_refused(name: str) -> None:
    with pytest.raises(PolyloomError) as error:
        encode(program(REFUSED[name]))
    assert error.value.code == "PL1004"


def test_a_pass_ends_once() -> None:
    with pytest.raises(PolyloomError):
        encode(program(loops=((0, 2), (1, 1))))


def test_a_program_is_for_its_member() -> None:
    data = belt_file.write(program(), SIGNATURE)
    for other in (member("gold"), member("silver", phasing=False)):
        with pytest.raises(PolyloomError) as error:
            belt_file.read(data, other)
        assert error.value.code == "PL1006"
