# SPDX-License-Identifier: Apache-2.0
"""Listing of a program: conasm, with the length of the belt after each bundle as the verifier saw it. It is what
`polyloom show` prints."""

from __future__ import annotations

from polyloom.ir.signature import Signature
from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.words.conasm import print_program
from polyloom.targets.belt.words.program import Program
from polyloom.targets.belt.words.verify import check_routine


def listing(program: Program, signature: Signature) -> str:
    """Conasm text with comments; comments leave a program's bytes alone."""
    machine = machines.read(program.description, program.member)
    lengths = {
        (routine.name, at): length
        for routine in program.routines
        for at, length in check_routine(program, routine, machine)[1].lengths.items()
    }
    return print_program(program, signature, lengths)
