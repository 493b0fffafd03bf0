# SPDX-License-Identifier: Apache-2.0
"""One program the whole way: symbolic file, concrete file, static check, model, and the comparison with its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from tests.made_up import random_inputs
from tests.targets.tcpa.instantiate.library import instantiate

from polyloom.diagnostics import PolyloomError
from polyloom.ir.interpret import interpret
from polyloom.ir.pla import Program
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.concrete import Concrete
from polyloom.targets.tcpa.words.symbolic import Symbolic


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that agreed with the program's meaning."""

    concrete: Concrete
    cycles: int
    predicted: int


def compiled(program: Program, machine: Machine) -> Symbolic:
    """The symbolic configuration, read back from its file."""
    symbolic = compile_program(program, machine)
    again = symbolic_file.decode(symbolic_file.encode(symbolic))
    assert again == symbolic
    return again


def run(
    program: Program,
    symbolic: Symbolic,
    machine: Machine,
    values: Mapping[str, int],
    region: tuple[int, int],
    seed: int = 1,
) -> Finished:
    """Instantiate, write, read, check and simulate; fails unless every output is right and the prediction bounds the
    cycles."""
    concrete = instantiate(symbolic, values, *region)
    data = concrete_file.encode(concrete)
    assert concrete_file.decode(data) == concrete
    assert [d.render() for d in verify_concrete.verify(data, machine)] == []
    inputs = random_inputs(program, values, seed)
    result = model.run(data, machine, inputs)
    wanted = interpret(program, values, inputs)
    assert result.outputs.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(result.outputs[name], array, strict=True)
    predicted = predicted_cycles(concrete)
    assert result.cycles <= predicted
    return Finished(concrete, result.cycles, predicted)


def refusal(error: PolyloomError) -> str:
    """The code of a refusal, which must be one for want of a schedule, a route or capacity."""
    assert error.exit_code == 3, str(error)
    assert all(d.help for d in error.diagnostics), str(error)
    return error.diagnostics[0].code
