# SPDX-License-Identifier: Apache-2.0
"""Blocks on the model: FIFOs and banks that hold a block, partial blocks, proofs, and what is refused.

The oracles are those of every run: the equations (without blocks, unless sums are reassociated), and the function
itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from tests.conftest import Golden

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

ROOT = Path(__file__).parents[4]
MATMUL = ROOT / "tests" / "kernels" / "blocks" / "matmul.py"
N, M, K = pl.sizes("N M K")
SIZES = {"i": 8, "j": 8, "k": 16}


@pl.kernel
def product(A: pl.i32[N, K], B: pl.i32[K, M], C: pl.i32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


@pl.kernel
def rows(A: pl.f32[N, M], Y: pl.f32[N, M], R: pl.f32[N]) -> None:
    for i in range(N):
        s = 0.0
        t = 0.0
        for j in range(M):
            s += A[i, j] * A[i, j]
            t -= A[i, j]
        for j in range(M):
            Y[i, j] = A[i, j] / s if A[i, j] < 0.0 else max(A[i, j], s)
        R[i] = t


def test_parts_of_a_block_keep_arrays_of_its_size(tmp_path: Path) -> None:
    """An array between the parts of a phase has the extents of the largest block; the last one here has two rows."""
    path = tmp_path / "few.toml"
    registers = "".join(f"{kind}_registers = 4\n" for kind in ("general", "feedback", "input", "output"))
    path.write_text(f'name = "few"\nbased_on = "wide"\n{registers}', encoding="utf-8")
    compiled = pl.compile(rows, on=f"tcpa:{path}:2x2", block={"i": 3})
    assert compiled.run(N=8, M=6, fill="random").verdict == "equal bits"


@pl.kernel
def planes(x: pl.f32[N, M, K], y: pl.f32[N]) -> None:
    for i in range(N):
        for j in range(M):
            for k in range(K):
                y[i] += x[i, j, k]


def test_sums_that_are_reassociated_equal_the_equations_of_the_blocks() -> None:
    """Without blocks, partial sums go over whole rows; in blocks over three elements."""
    compiled = pl.compile(planes, on="tcpa:2x2", options=Options(reassociate=True), block={"j": 1, "k": 3})
    equations, *_ = compiled.run(N=2, M=5, K=6).outcome.comparisons
    assert (equations.name, equations.verdict) == ("equations", "equal bits")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """`wide` with FIFOs of 32 tokens and banks of 64 words."""
    path = tmp_path_factory.mktemp("machine") / "small.toml"
    path.write_text('name = "small"\nbased_on = "wide"\nfifo_depth = 32\nbank_words = 64\n', encoding="utf-8")
    return f"tcpa:{path}:2x2"


@pytest.fixture(scope="module")
def blocked(small: str) -> pl.Compiled:
    return pl.compile(product, on=small, block=SIZES)


def phases_of(result: pl.Result) -> list[dict[str, int]]:
    return cast("list[dict[str, int]]", result.data["phases"])


def test_small_fifos_and_banks_hold_blocks_of_any_product(blocked: pl.Compiled, small: str) -> None:
    """Without blocks the same product needs longer FIFOs."""
    result = blocked.instantiate(N=24, M=16, K=32).run()
    assert result.verified
    steps = 3 * 2 * 2
    # Both multipliers of an element have a product in each cycle.
    cycles = 24 * 16 * 32 // 4 // 2
    # A few cycles a step fill and drain the array.
    assert result.cycles is not None and cycles < result.cycles < cycles + 120 * steps
    equations = pl.compile(product, on=small).subject
    assert equations is not None
    with pytest.raises(PolyloomError) as refused:
        pl.compile(equations.content, on=small).instantiate(N=24, M=16, K=32)
    assert refused.value.diagnostics[0].code in ("PL0511", "PL0520")


def test_partial_blocks(blocked: pl.Compiled) -> None:
    for values in ({"N": 9, "M": 7, "K": 17}, {"N": 1, "M": 1, "K": 1}, {"N": 3, "M": 9, "K": 0}):
        assert blocked.instantiate(**values).run().verified


def test_whole_blocks_share_one_configuration(blocked: pl.Compiled) -> None:
    assert blocked.instantiate(N=32, M=16, K=32).run().data["instantiations"] == 1
    # Partial ones along each of three loops, and along several at once.
    assert blocked.instantiate(N=33, M=17, K=33).run().data["instantiations"] == 8


def test_a_local_that_crosses_blocks() -> None:
    result = pl.compile(MATMUL, on="tcpa:2x2", block={"i": 4, "j": 4, "k": 4}).instantiate(N=5, M=6, K=9).run()
    assert result.verified
    # The first block of k with what stands before it, other blocks of k, what stands behind them.
    assert [phase["steps"] for phase in phases_of(result)] == [4, 8, 4]


def test_transfers_are_those_of_words_that_banks_lack(blocked: pl.Compiled) -> None:
    """C goes back from the banks that wrote it to those that read it, a quarter of it to each element, where each of
    two iterations in one has banks of its own."""
    one = blocked.instantiate(N=8, M=8, K=16).run()
    two = blocked.instantiate(N=8, M=8, K=32).run()
    assert phases_of(one)[0]["transfer_cycles"] == 0
    assert phases_of(two)[0]["transfer_cycles"] == 8 * 8 // 4 // 2


def test_blocks_are_proved_equal_to_the_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "matmul.plcc"
    made = pl.compile(MATMUL, on="tcpa:2x2", block={"i": 2, "j": 2, "k": 3}).instantiate(N=3, M=2, K=5)
    file.write_bytes(made.data)
    assert main(["verify", str(file), "--against", str(MATMUL)]) == 0
    assert "equal" in capsys.readouterr().out


def test_files_come_back(tmp_path: Path) -> None:
    file = tmp_path / "a b.plsc"
    file.write_bytes(pl.compile(MATMUL, on="tcpa:2x2", block={"i": 2, "k": 3}).data)
    arrays = {"A": np.ones((9, 5), np.int32), "B": np.ones((5, 9), np.int32), "C": np.zeros((9, 9), np.int32)}
    loaded = pl.load(file)
    assert isinstance(loaded, pl.Compiled)
    found = loaded.instantiate(N=9, M=9, K=5, pes=(2, 2)).run({**arrays})
    assert (found.outputs["C"] == 5).all()


WRONG = {
    "text": ["--block", "i"],
    "twice": ["--block", "i=2,i=3"],
    "zero": ["--block", "i=0"],
    "loop": ["--block", "x=2"],
    "layouts": ["--block", "i=2", "--layouts", "A=columns"],
}


@pytest.mark.parametrize("case", WRONG)
def test_errors(case: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    monkeypatch.chdir(MATMUL.parent)
    code = main(["run", "matmul.py", "--on", "tcpa:2x2", "N=3", "M=3", "K=3", *WRONG[case]])
    assert code == (1 if case == "layouts" else 2)
    golden(f"error-block-{case}", capsys.readouterr().err)


def test_equations_have_no_loops(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Golden
) -> None:
    monkeypatch.chdir(ROOT / "examples")
    assert main(["compile", "matmul.pla", "--block", "i=2", "-o", "unused.plsc"]) == 2
    golden("error-block-equations", capsys.readouterr().err)
