# SPDX-License-Identifier: Apache-2.0
"""The loops of `polyloom bench riscv`: peers run what we run; who is not installed is left out.

Speeds are measured, not tested.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from shutil import which

import pytest

from polyloom.cli.bench import executed_instructions, harts, kernels_through_c, polybench, selects
from polyloom.riscv import names
from polyloom.riscv.image import elf_image
from polyloom.riscv.model import Machine
from polyloom.riscv.selects.notation import parse_expression
from polyloom.riscv.selects.select import select_expression

ISA = {name: names.parse_isa(name) for name in harts.ISAS}
UNITS = (executed_instructions.EXECUTED, executed_instructions.BYTES)
MOST = {
    ("rv64gc", executed_instructions.EXECUTED): 1.03,
    ("rv64gc", executed_instructions.BYTES): 1.05,
    ("rv32imc", executed_instructions.EXECUTED): 1.0,
    ("rv32imc", executed_instructions.BYTES): 1.05,
}
"""Geometric means of the ratios to clang -O2."""
PLAIN = {executed_instructions.EXECUTED: 1.05, executed_instructions.BYTES: 1.1}
"""Of those of `--ssa 0` to `--ssa 2`, and of kernels in Python to their C text through clang -O2."""
SOME = ("gemm", "atax", "trmm", "symm", "jacobi2d", "smith_waterman")
"""Kernels of the default run: a product, two, triangles, a stencil, and one with choices."""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that a test can wait for, but that would overflow the stack if steps called each other without jumping."""
    monkeypatch.setattr(harts, "ROUNDS", 1)
    monkeypatch.setattr(harts, "LOOPS", {name: replace(loop, times=300_000) for name, loop in harts.LOOPS.items()})


@pytest.fixture(
    scope="module",
    params=[
        isa if isa == "rv64gc" else pytest.param(isa, marks=pytest.mark.long) for isa in executed_instructions.ISAS
    ],
)
def isa(request: pytest.FixtureRequest) -> str:
    """By default the one that has all functions."""
    return str(request.param)


@pytest.fixture(scope="module")
def rows(isa: str) -> list[executed_instructions.Row]:
    return list(executed_instructions.rows([isa]))


@pytest.mark.parametrize("isa", harts.ISAS)
@pytest.mark.parametrize("name", harts.LOOPS)
def test_a_loop_ends_after_its_instructions(name: str, isa: str) -> None:
    done = Machine(elf_image(harts.program(name, ISA[isa]), ISA[isa])).run()
    assert done.exit_code == 0
    assert done.instructions > 3 * 300_000


@pytest.mark.skipif(which("qemu-riscv64") is None, reason="qemu-user is not installed: nobody else runs the loops")
@pytest.mark.parametrize("isa", harts.ISAS)
@pytest.mark.parametrize("name", ["", *harts.LOOPS])
def test_the_peer_runs_the_same_file(name: str, isa: str, tmp_path: Path) -> None:
    file = tmp_path / "loop.elf"
    file.write_bytes(harts.program(name, ISA[isa]))
    file.chmod(0o755)
    subprocess.run([f"qemu-riscv{ISA[isa].xlen}", str(file)], check=True)


def test_the_row_of_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harts, "LOOPS", {"integers": harts.LOOPS["integers"]})
    rows = list(harts.rows())
    assert [(row["what"], row["isa"]) for row in rows] == [("loop of integers", isa) for isa in harts.ISAS]
    assert all(isinstance(row["polyloom"], int) and row["polyloom"] > 0 for row in rows)


def test_who_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        """As where it is not installed."""

    monkeypatch.setattr(harts, "LOOPS", {"integers": harts.LOOPS["integers"]})
    monkeypatch.setattr(harts, "which", nothing)
    monkeypatch.setattr(harts, "find_spec", nothing)
    assert all(row["QEMU"] is row["to QEMU"] is row["host"] is None for row in harts.rows())


@pytest.mark.skipif(executed_instructions.find_spec("ziglang") is None, reason="C needs the extra `c`")
def test_functions_execute_what_is_counted(isa: str, rows: list[executed_instructions.Row]) -> None:
    assert [(row["what"], row["isa"], row["unit"]) for row in rows] == [
        *((f.name, isa, unit) for f in executed_instructions.functions(names.parse_isa(isa)) for unit in UNITS),
        *(("geometric mean", isa, unit) for unit in UNITS),
    ]
    for row in rows[:-2]:
        for peer in executed_instructions.PEERS:
            ours, theirs = row["polyloom"], row[peer]
            assert isinstance(ours, int) and isinstance(theirs, int)
            assert row[f"to {peer}"] == round(ours / theirs, 2)
    # Indices that could wrap around cost clang three instructions, and us none.
    strided = next(row for row in rows if (row["what"], row["unit"]) == ("strided", executed_instructions.EXECUTED))
    assert isinstance(ratio := strided["to clang -O2 -fwrapv"], float)
    assert ratio < 0.8


@pytest.mark.skipif(executed_instructions.find_spec("ziglang") is None, reason="C needs the extra `c`")
def test_functions_of_floats_have_no_row_where_there_are_none() -> None:
    found = {
        isa: {function.name for function in executed_instructions.functions(names.parse_isa(isa))}
        for isa in executed_instructions.ISAS
    }
    assert len(found["rv64gc"]) == 44
    assert found["rv64gc"] - found["rv32imc"] == {
        *("dot", "axpy", "matmul", "jacobi_1d", "jacobi_2d", "trisolv", "squares", "normalize")
    }


@pytest.mark.skipif(executed_instructions.find_spec("ziglang") is None, reason="C needs the extra `c`")
def test_few_more_instructions_are_executed_than_by_clang(isa: str, rows: list[executed_instructions.Row]) -> None:
    """Which may assume that nothing overflows."""
    means = {(row["isa"], row["unit"]): row for row in rows if row["what"] == "geometric mean"}
    for unit in UNITS:
        key, most = (isa, unit), MOST[isa, unit]
        assert isinstance(ratio := means[key]["to clang -O2"], float)
        assert ratio <= most, key
        assert isinstance(plain := means[key]["to --ssa 2"], float)
        assert plain <= PLAIN[key[1]], key


@pytest.mark.skipif(executed_instructions.find_spec("ziglang") is None, reason="C needs the extra `c`")
@pytest.mark.parametrize(
    "only", [SOME, pytest.param(tuple(polybench.SIZES), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_kernels_need_no_clang(only: tuple[str, ...]) -> None:
    """Both leave the same in all arrays: `kernels_through_c` compares them."""
    rows = list(kernels_through_c.rows(only))
    assert len(rows) == 2 * len(only) + 2
    means = {row["unit"]: row[kernels_through_c.RATIO] for row in rows if row["what"] == kernels_through_c.MEAN}
    for unit, most in PLAIN.items():
        assert isinstance(ratio := means[unit], float)
        assert ratio <= most, unit


@pytest.mark.skipif(executed_instructions.find_spec("ziglang") is None, reason="C needs the extra `c`")
@pytest.mark.parametrize("isa", selects.SETS)
def test_no_select_is_longer(isa: str) -> None:
    """Than clang's: neither what is compiled, nor a sequence of the table where clang does without branches, too."""
    ours = selects.polyloom_lengths(isa)
    theirs = selects.llvm_lengths(isa)
    assert theirs.keys() == {*selects.GCC, *selects.MORE}
    assert any("b" in length for length in theirs.values()) == ("zicond" not in isa)
    for text, length in theirs.items():
        assert int(ours[text].rstrip("b")) <= int(length.rstrip("b")), text
        assert "b" in length or select_expression(parse_expression(text), names.parse_isa(isa)).length <= int(length), (
            text
        )
