# SPDX-License-Identifier: Apache-2.0
"""Vector kernels in Python: what they record, what they mean, where their instructions stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.tensix.sfpi.form.lanes import floats, ints, row, started

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.tensix.sfpi.interpret import State, interpret
from polyloom.targets.tensix.sfpi.language.kernel import VectorKernel, load
from polyloom.targets.tensix.sfpi.operations import PREFIX, operations
from polyloom.targets.tensix.sfpi.oracle.rounding import Words

X = floats(-3.5, -1.0, -0.0, 0.0, 0.25, 1.0, 2.75, 1e30)
VALUES = X.view(np.float32)


def run(kernel: VectorKernel, *rows: Words, member: str = "wormhole", **constants: object) -> State:
    made = kernel.trace("blackhole" if member == "blackhole" else "wormhole", **constants)
    return interpret(made, (), started(*rows, member="blackhole" if member == "blackhole" else "wormhole"))


def as_floats(state: State, k: int) -> list[float]:
    return row(state, k).view(np.float32).tolist()


def calls(function: Function) -> list[str]:
    return [i.called.removeprefix(PREFIX) for block in function.blocks for i in block.instructions]


@pl.tensix.kernel
def leaky(dst, slope=0.5):
    x = dst[0]
    with pl.v_if(x < 0.0):
        x = x * slope
    dst[1] = x


def test_an_assignment_within_a_condition_keeps_the_other_lanes() -> None:
    assert as_floats(run(leaky, X), 1) == np.where(X >> 31, VALUES * 0.5, VALUES).tolist()
    assert calls(leaky.trace()) == [
        "load", "push", "splat", "cmp_f", "cond", "splat", "sfpmul", "assign", "pop", "store",
    ]  # fmt: skip


@pl.tensix.kernel
def chained(dst):
    x = dst[0]
    with pl.v_if(x < -2.0):
        y = pl.vint(1)
    with pl.v_elseif(x < 0.5):
        y = 2
        with pl.v_if(x < 0.0):
            y += 10
        with pl.v_else:
            y = y + 20
    with pl.v_else:
        y = 3
    dst.mode("i32")[1] = y


def test_chains_nest_and_the_first_assignment_takes_all_lanes() -> None:
    found = row(run(chained, floats(-3, -1, 0.25, 1)), 1)[:4].tolist()
    assert found == [1, 12, 22, 3]
    text = print_ssa(chained.trace())
    assert text.count("__sfpi_push") == 2 + 1  # the declaration of the external function is the third


@pl.tensix.kernel
def narrowing(dst, n=3):
    x, y = dst[0], pl.vfloat(1.0)
    with pl.v_block():
        for _ in range(n):
            x = x - 1.0
            pl.v_and(x >= 0.0)
            y *= 2.0
    dst[1] = y


def test_blocks_narrow_and_loops_are_unrolled() -> None:
    assert as_floats(run(narrowing, floats(-1, 0.5, 1.5, 2.5, 9)), 1)[:5] == [1, 1, 2, 4, 8]
    assert calls(narrowing.trace(n=5)).count("and_") == 5


@pl.tensix.function
def relu(x, low):
    y = pl.vfloat(low)
    with pl.v_if(x > low):
        y = x
    return y  # noqa: RET504: in the other lanes it is what it was


@pl.tensix.kernel
def helped(dst):
    scale = 2.0

    def twice(x):
        return x * scale

    for i in range(2):
        dst[i + 2] = relu(twice(dst[i]), 1.0)


def test_functions_with_conditions_are_called_and_inner_ones_close_over_names() -> None:
    found = run(helped, floats(0.1, 1, 3), floats(-4, 4))
    assert as_floats(found, 2)[:3] == [1, 2, 6]
    assert as_floats(found, 3)[:2] == [1, 8]


@pl.tensix.kernel
def broken_out(dst):
    x = dst[0]
    for k in range(4):
        with pl.v_if(x > float(k)):
            if k == 2:
                break
            x = x + 10.0
    dst[1] = x


def test_break_leaves_the_conditions_that_it_is_in() -> None:
    assert as_floats(run(broken_out, floats(-1, 0.5)), 1)[:2] == [-1, 20.5]


@pl.tensix.kernel
def at_run_time(dst, n: pl.i32, slope: pl.f32, k=1):
    dst[n] = dst[k] * slope
    dst.mode("i32")[3] = pl.vint(n) + 1


def test_annotated_parameters_are_known_when_the_kernel_runs() -> None:
    bits = int(np.float32(0.5).view(np.uint32))
    found = interpret(at_run_time.trace(), (2, bits), started(floats(1), floats(6)))
    assert as_floats(found, 2)[0] == 3
    assert (row(found, 3) == 3).all()
    assert at_run_time.runtime == ("n", "slope")


@pl.tensix.kernel
def integers(dst):
    x = pl.vint(dst.mode("i32")[0])
    u = pl.tensix.as_(pl.vuint, x)
    out = dst.mode("i32")
    out[1] = (x + 5 - x) ^ 3
    out[2] = 7 - x
    out[3] = ~x & 0xFF | 0x100
    out[4] = u >> 4
    out[5] = x << 3
    out[6] = pl.vint((x < 0) | (x == 9))
    out[7] = abs(-x)
    out[8] = pl.vint(pl.tensix.as_(pl.vuint, x) > 100)


def test_integers() -> None:
    found = run(integers, ints(-20, 9, 0, 300))
    rows = [row(found, k)[:4].astype(np.uint32).view(np.int32).tolist() for k in range(1, 9)]
    assert rows == [
        [6, 6, 6, 6], [27, -2, 7, -293], [0x113, 0x1F6, 0x1FF, 0x1D3], [0xFFFFFFEC >> 4, 0, 0, 18],
        [-160, 72, 0, 2400], [1, 1, 0, 0], [20, 9, 0, 300], [1, 0, 0, 1],
    ]  # fmt: skip


@pl.tensix.kernel
def library(dst):
    t = pl.tensix
    x = dst[0]
    i = dst.mode("i32")
    i[1] = t.exexp(x)
    i[2] = t.exman(x, hidden=True)
    dst[3] = t.setexp(x, 127)
    dst[4] = t.clamp(x, -1.0, 1.0)
    dst[5] = t.polynomial(x, 1.0, 2.0, 3.0)
    a, b = t.min_max(x, 0.5)
    dst[6] = a
    dst[7] = b
    a, b = t.swap(a, b)
    dst[8] = a
    f, n = t.round(x)
    dst[9] = f
    i[10] = n
    dst[11] = t.copysgn(t.const_1, x)
    i[12] = pl.vint(t.is_finite(x))
    dst[13] = t.addexp(x, 3)
    i[14] = t.lz(x)


def test_library() -> None:
    values = floats(-3.5, 1.0, 0.75, 2.75)
    found = run(library, values)
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


@pl.tensix.kernel
def registers(dst):
    pl.tensix.prgm[0] = 3.0
    dst[1] = dst[0] * pl.tensix.prgm[0]
    pl.tensix.l_reg[2] = pl.tensix.l_reg[1] + pl.tensix.const_neg1
    dst.mode("i32")[2] = pl.vint(pl.tensix.tile_id)
    dst.advance()
    dst[2] = dst[0]


def test_registers_and_the_counter_of_dst() -> None:
    found = run(registers, floats(2))
    assert as_floats(found, 1)[0] == 6
    assert row(found, 2).tolist() == list(range(0, 64, 2))
    assert as_floats(found, 3)[0] == 6
    assert found.registers[2].bits.reshape(-1)[0] == floats(-1)[0]


@pl.tensix.kernel
def random_numbers(dst):
    dst.mode("i32")[0] = pl.tensix.rand()
    dst[1] = pl.tensix.approx_recip(dst[1])


def test_blackhole_has_more() -> None:
    found = run(random_numbers, floats(0), floats(4), member="blackhole")
    assert abs(as_floats(found, 1)[0] - 0.25) < 0.01
    with pytest.raises(PolyloomError, match="Wormhole has no rand"):
        random_numbers.trace()


def test_every_operation_of_the_table_can_be_called_by_its_name() -> None:
    @pl.tensix.kernel
    def builtins(dst):
        call = pl.tensix.builtin
        a, b, c = dst[0], dst[1], dst[2]
        dst[3] = call("sfpmad")(a, b, c, 0)
        first, second = call("sfpswap")(a, b, 0)
        dst[4] = first
        dst[5] = second

    assert "sfpmad" in calls(builtins.trace())
    assert set(calls(builtins.trace())) <= set(operations())


def test_instructions_stand_at_the_users_line_and_column() -> None:
    (comparison,) = [i for b in leaky.trace().blocks for i in b.instructions if i.called.endswith("cmp_f")]
    line = leaky.function.__code__.co_firstlineno + 3
    assert (comparison.place.file, comparison.place.line, comparison.place.column) == (__file__, line, 18)


def test_tracing_gives_the_same_text_each_time() -> None:
    assert print_ssa(library.trace(), places=True) == print_ssa(library.trace(), places=True)


def test_a_kernel_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import polyloom as pl\n\n\n@pl.tensix.kernel\ndef f(dst):\n    dst[0] = dst[1]\n\n\n"
        "@pl.tensix.kernel\ndef g(dst):\n    dst[1] = dst[0]\n"
    )
    assert load(str(path), "g").name == "g"
    with pytest.raises(PolyloomError, match=r"has 2 vector kernels[\s\S]*f, g"):
        load(str(path))
    with pytest.raises(PolyloomError, match="has no vector kernel `h`"):
        load(str(path), "h")
