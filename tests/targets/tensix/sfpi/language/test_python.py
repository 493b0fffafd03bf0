# SPDX-License-Identifier: Apache-2.0
"""Vector kernels in Python: what they record, what they mean, where their instructions stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.targets.tensix.sfpi.form.lanes import floats, ints, row, started

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.tensix.source.language.file import load_kernel
from polyloom.targets.tensix.source.language.kernel import VectorKernel
from polyloom.targets.tensix.source.operations import PREFIX, operations
from polyloom.targets.tensix.source.oracle.interpret import State, interpret
from polyloom.targets.tensix.source.oracle.rounding import Words

FILE = Path(__file__).with_name("functions.py")
X = floats(-3.5, -1.0, -0.0, 0.0, 0.25, 1.0, 2.75, 1e30)
VALUES = X.view(np.float32)


def of(name: str) -> VectorKernel:
    return load_kernel(str(FILE), name)


def run(kernel: VectorKernel, *rows: Words, member: str = "wormhole", **constants: object) -> State:
    made = kernel.trace("blackhole" if member == "blackhole" else "wormhole", **constants)
    return interpret(made, (), started(*rows, member="blackhole" if member == "blackhole" else "wormhole"))


def as_floats(state: State, k: int) -> list[float]:
    return row(state, k).view(np.float32).tolist()


def calls(function: Function) -> list[str]:
    return [i.called.removeprefix(PREFIX) for block in function.blocks for i in block.instructions]


def test_an_assignment_within_a_condition_keeps_the_other_lanes() -> None:
    assert as_floats(run(of("leaky"), X), 1) == np.where(X >> 31, VALUES * 0.5, VALUES).tolist()
    assert calls(of("leaky").trace()) == [
        "load", "push", "splat", "cmp_f", "cond", "splat", "sfpmul", "assign", "pop", "store",
    ]  # fmt: skip


def test_chains_nest_and_the_first_assignment_takes_all_lanes() -> None:
    found = row(run(of("chained"), floats(-3, -1, 0.25, 1)), 1)[:4].tolist()
    assert found == [1, 12, 22, 3]
    text = print_ssa(of("chained").trace())
    assert text.count("__sfpi_push") == 2 + 1  # the declaration of the external function is the third


def test_blocks_narrow_and_loops_are_unrolled() -> None:
    assert as_floats(run(of("narrowing"), floats(-1, 0.5, 1.5, 2.5, 9)), 1)[:5] == [1, 1, 2, 4, 8]
    assert calls(of("narrowing").trace(n=5)).count("and_") == 5


def test_functions_with_conditions_are_called_and_inner_ones_close_over_names() -> None:
    found = run(of("helped"), floats(0.1, 1, 3), floats(-4, 4))
    assert as_floats(found, 2)[:3] == [1, 2, 6]
    assert as_floats(found, 3)[:2] == [1, 8]


def test_break_leaves_the_conditions_that_it_is_in() -> None:
    assert as_floats(run(of("broken_out"), floats(-1, 0.5)), 1)[:2] == [-1, 20.5]


def test_annotated_parameters_are_known_when_the_kernel_runs() -> None:
    bits = int(np.float32(0.5).view(np.uint32))
    found = interpret(of("at_run_time").trace(), (2, bits), started(floats(1), floats(6)))
    assert as_floats(found, 2)[0] == 3
    assert (row(found, 3) == 3).all()
    assert of("at_run_time").runtime == ("n", "slope")


def test_integers() -> None:
    found = run(of("integers"), ints(-20, 9, 0, 300))
    rows = [row(found, k)[:4].astype(np.uint32).view(np.int32).tolist() for k in range(1, 9)]
    assert rows == [
        [6, 6, 6, 6], [27, -2, 7, -293], [0x113, 0x1F6, 0x1FF, 0x1D3], [0xFFFFFFEC >> 4, 0, 0, 18],
        [-160, 72, 0, 2400], [1, 1, 0, 0], [20, 9, 0, 300], [1, 0, 0, 1],
    ]  # fmt: skip


def test_library() -> None:
    values = floats(-3.5, 1.0, 0.75, 2.75)
    found = run(of("library"), values)
    x = values[:4].view(np.float32).astype(np.float64)
    assert row(found, 1)[:4].view(np.int32).tolist() == [1, 0, -1, 1]
    assert [m / 2**23 for m in row(found, 2)[:4].tolist()] == [1.75, 1, 1.5, 1.375]
    assert as_floats(found, 3)[:4] == [-1.75, 1, 1.5, 1.375]
    assert as_floats(found, 4)[:4] == [-1, 1, 0.75, 1]
    assert as_floats(found, 5)[:4] == (1 + 2 * x + 3 * x * x).tolist()
    assert as_floats(found, 6)[:4] == [-3.5, 0.5, 0.5, 0.5]
    assert as_floats(found, 7)[:4] == as_floats(found, 8)[:4] == [0.5, 1, 0.75, 2.75]
    assert as_floats(found, 9)[:4] == [-4, 1, 1, 3]
    assert row(found, 10)[:4].view(np.int32).tolist() == [-4, 1, 1, 3]
    assert as_floats(found, 11)[:4] == [-1, 1, 1, 1]
    assert row(found, 12)[:4].tolist() == [1] * 4
    assert as_floats(found, 13)[:4] == (8 * x).tolist()
    assert row(found, 14)[:4].tolist() == [0, 2, 2, 1]


def test_registers_and_the_counter_of_dst() -> None:
    found = run(of("registers"), floats(2))
    assert as_floats(found, 1)[0] == 6
    assert row(found, 2).tolist() == list(range(0, 64, 2))
    assert as_floats(found, 3)[0] == 6
    assert found.registers[2].bits.reshape(-1)[0] == floats(-1)[0]


def test_blackhole_has_more() -> None:
    found = run(of("random_numbers"), floats(0), floats(4), member="blackhole")
    assert abs(as_floats(found, 1)[0] - 0.25) < 0.01
    with pytest.raises(PolyloomError, match="Wormhole has no rand"):
        of("random_numbers").trace()


def test_every_operation_of_the_table_can_be_called_by_its_name() -> None:
    assert "sfpmad" in calls(of("builtins").trace())
    assert set(calls(of("builtins").trace())) <= set(operations())


def test_instructions_stand_at_the_users_line_and_column() -> None:
    (comparison,) = [i for b in of("leaky").trace().blocks for i in b.instructions if i.called.endswith("cmp_f")]
    line = of("leaky").function.__code__.co_firstlineno + 3
    assert (comparison.place.file, comparison.place.line, comparison.place.column) == (str(FILE), line, 18)


def test_tracing_gives_the_same_text_each_time() -> None:
    assert print_ssa(of("library").trace(), places=True) == print_ssa(of("library").trace(), places=True)


def test_a_kernel_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import polyloom as pl\n\n\n@pl.tensix.kernel\ndef f(dst):\n    dst[0] = dst[1]\n\n\n"
        "@pl.tensix.kernel\ndef g(dst):\n    dst[1] = dst[0]\n"
    )
    assert load_kernel(str(path), "g").name == "g"
    with pytest.raises(PolyloomError, match=r"has 2 vector kernels[\s\S]*f, g"):
        load_kernel(str(path))
    with pytest.raises(PolyloomError, match="has no vector kernel `h`"):
        load_kernel(str(path), "h")
