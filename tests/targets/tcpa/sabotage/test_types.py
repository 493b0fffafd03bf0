# SPDX-License-Identifier: Apache-2.0
"""Every changed element type, of an instruction or of an array, is noticed by `verify`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.targets.tcpa.end_to_end import typed

from polyloom.frontend.pla import parse
from polyloom.ir.operations import ELEMENT_TYPES
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.run.instantiation import instantiate
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file, encoding, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Instruction


def _configuration(seed: int) -> Concrete:
    text, _ = typed.program(seed, 8)
    symbolic = compile_program(parse(text, "types.pla"), machine_file.load("ideal"))
    return concrete_file.decode(instantiate(symbolic_file.encode(symbolic), symbolic, (3,), 1, 1))


def _retyped(instruction: Instruction) -> Iterator[Instruction]:
    for number in range(len(ELEMENT_TYPES)):
        code = instruction.opcode & ~15 | number
        if code != instruction.opcode and encoding.arity(code) is not None:
            yield replace(instruction, opcode=code)


def _instructions(whole: Concrete) -> Iterator[Concrete]:
    """With one instruction of the first class on another type."""
    element, *others = whole.classes
    for unit, program in enumerate(element.programs):
        for at, instruction in enumerate(program):
            if instruction.opcode == OPCODE_NOP or not instruction.destinations:
                continue
            for changed in _retyped(instruction):
                other = (*program[:at], changed, *program[at + 1 :])
                programs = (*element.programs[:unit], other, *element.programs[unit + 1 :])
                yield replace(whole, classes=(replace(element, programs=programs), *others))


def _arrays(whole: Concrete) -> Iterator[Concrete]:
    for at, array in enumerate(whole.arrays):
        for dtype in ELEMENT_TYPES:
            if dtype != array.dtype:
                yield replace(whole, arrays=(*whole.arrays[:at], replace(array, dtype=dtype), *whole.arrays[at + 1 :]))


@pytest.mark.parametrize("seed", [1])
def test_changed_types(seed: int) -> None:
    whole, machine = _configuration(seed), machine_file.load("ideal")
    assert not verify_concrete.verify(concrete_file.encode(whole), machine)
    changed = [*_instructions(whole), *_arrays(whole)]
    assert len(changed) > 100
    assert all(verify_concrete.verify(concrete_file.encode(one), machine) for one in changed[::3])
