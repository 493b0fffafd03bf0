# SPDX-License-Identifier: Apache-2.0
"""A nest beside what it becomes: the interpreter of SSA form, and the models of machines."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tests.frontend.python.helpers import Arrays, assert_same

from polyloom import frontend
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument
from polyloom.ir.ssa_interpret import interpret as interpret_ssa
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.riscv.names import parse_isa


def check(nest: Nest, values: Mapping[str, int], inputs: Arrays, pointers: int = 64) -> None:
    """The function of a nest, verified after each pass, gives the bits that the nest gives."""
    function = frontend.nest_ssa(nest, pointers)
    expected, given = interpret(nest, values, inputs), {name: array.copy() for name, array in inputs.items()}
    assert interpret_ssa(function, passed(nest, values, given)) is None
    assert_same(expected, {name: given[name] for name in expected})


def check_on_riscv(nest: Nest, values: Mapping[str, int], inputs: Arrays, isa: str) -> None:
    """So does its code on the model of an instruction set."""
    found = parse_isa(isa)
    function: Function = frontend.nest_ssa(nest, found.xlen)
    expected, given = interpret(nest, values, inputs), {name: array.copy() for name, array in inputs.items()}
    call(compile_function(function, found).elf, found, function, passed(nest, values, given))
    assert_same(expected, {name: given[name] for name in expected})


def passed(nest: Nest, values: Mapping[str, int], given: Arrays) -> list[Argument]:
    """The arguments of the function, of which arrays are changed in place."""
    arguments: list[Argument] = [values[name] for name in nest.parameters]
    for storage in (s for s in nest.storage if s.role == "argument"):
        array = given[storage.name]
        by_value = not storage.shape and not storage.writable
        arguments.append(
            np.asarray(array).view("<u2")[()].item()
            if by_value and storage.dtype == "f16"
            else array.item()
            if by_value
            else array
        )
    return arguments
