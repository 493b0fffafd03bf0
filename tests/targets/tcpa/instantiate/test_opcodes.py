# SPDX-License-Identifier: Apache-2.0
"""The native reader's table of operations is that of `polyloom.ir.operations`: it takes the opcodes that exist, with
their numbers of operands, and no others; constants of 64 bits are written as they are."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.run.instantiation import instantiate
from polyloom.targets.tcpa.words import concrete_file, encoding, symbolic_file
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, Immediate, is_operation
from polyloom.targets.tcpa.words.symbolic import Symbolic

VALUES = ("a[i]", "add(a[i], b[i])", "select(a[i], b[i], c[i])")


def _symbolic(value: str, dtype: str = "i32") -> Symbolic:
    text = f"parameter N\ninput a[N]: {dtype}, b[N]: {dtype}, c[N]: {dtype}\noutput y[N]: {dtype}\n"
    used = "for 0 <= i < N do\n" + f"  y[i] = {value}\n"
    return compile_program(parse(text + used, "one.pla"), machine_file.load("ideal"))


def _code(symbolic: Symbolic, opcode: int) -> str | None:
    (node,) = symbolic.nodes
    data = symbolic_file.encode(replace(symbolic, nodes=(replace(node, opcode=opcode),)))
    try:
        instantiate(data, symbolic, (3,), 1, 1)
    except PolyloomError as error:
        return error.code
    return None


def test_every_opcode() -> None:
    given = [_symbolic(value) for value in VALUES]
    for opcode in filter(is_operation, range(OPCODE_NOP)):
        arity = encoding.arity(opcode)
        assert _code(given[(arity or 1) - 1], opcode) == (None if arity else "PL0705"), opcode


@pytest.mark.parametrize("number", [0.1, -1e300, 5e-324])
def test_constants_of_64_bits(number: float) -> None:
    symbolic = _symbolic(f"madd(a[i], {number}, 2.5)", "f64")
    concrete = concrete_file.decode(instantiate(symbolic_file.encode(symbolic), symbolic, (3,), 1, 1))
    instructions = [i for c in concrete.classes for program in c.programs for i in program if len(i.sources) == 3]
    wanted = [Immediate(struct.unpack("<Q", struct.pack("<d", value))[0]) for value in (number, 2.5)]
    assert instructions
    assert all(list(i.sources[1:]) == wanted for i in instructions if i.destinations)
