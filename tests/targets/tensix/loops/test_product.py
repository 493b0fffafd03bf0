# SPDX-License-Identifier: Apache-2.0
"""Products on the tile: every format, fidelity and Dst, shapes with and without padding; what runs equals the tile's
arithmetic in bits and the program within its bound, and the file is all that a run needs."""

from __future__ import annotations

import json
from itertools import product as every
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.targets.tensix.loops.programs import product, source

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.map.loops.product_unpack import mop_chunk

EXAMPLES = Path(__file__).parents[4] / "examples"
N, M, K = pl.sizes("N M K")


@pl.kernel
def turned(A: pl.f32[K, N], B: pl.f32[M, K], C: pl.f32[M, N]) -> None:
    for i in range(N):
        for j in range(M):
            C[j, i] = 0.0
            for k in range(K):
                C[j, i] += A[k, i] * B[j, k]


@pl.kernel
def rows_of_two(A: pl.f32[N, M, K], B: pl.f32[K, 3], C: pl.f32[N, M, 3]) -> None:
    for i in range(N):
        for j in range(M):
            for p in range(3):
                C[i, j, p] = 0.0
                for k in range(K):
                    C[i, j, p] += A[i, j, k] * B[k, p]


SHAPES = [(1, 1, 1), (32, 32, 32), (31, 65, 33), (64, 32, 96), (1, 100, 40), (97, 1, 1), (256, 32, 32), (300, 40, 70)]


def run(element: str, *sizes: int, **options: Any) -> pl.Result:
    values = dict(zip("NMK", sizes, strict=True))
    return pl.compile(source(product(element)), on="tensix", **options).run(values, seed=sum(sizes))


@pytest.mark.parametrize(("format", "dest", "fidelity"), list(every(["tf32", "bf16", "fp16"], [16, 32], [1, 2, 3, 4])))
def test_every_format_dst_and_fidelity(format: str, dest: int, fidelity: int) -> None:
    result = run("f32", 40, 33, 70, format=format, dest=dest, fidelity=fidelity)
    assert result.verified and result.outcome.compared_with == ("arithmetic", "equations")
    assert (result.data["format"], result.data["dest"], result.data["fidelity"]) == (format, dest, fidelity)
    assert 0 < cast(float, result.data["max_error"]) <= cast(float, result.data["bound"])


@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 1),
        (32, 32, 32),
        (31, 65, 33),
        (64, 32, 96),
        (1, 100, 40),
        (97, 1, 1),
        (256, 32, 32),
        (300, 40, 70),
        (513, 33, 1),
    ],
)
def test_shapes(sizes: tuple[int, int, int]) -> None:
    result = run("f32", *sizes)
    assert result.verified and result.data["tiles"] == [-(-n // 32) for n in sizes]


@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_nothing_to_do(sizes: tuple[int, int, int]) -> None:
    result = run("f32", *sizes)
    assert result.verified and not result.outputs["C"].any() and result.data["instructions"] == 0


def test_long_sums_take_several_mops() -> None:
    assert [mop_chunk(n) for n in (1, 127, 128, 131, 254)] == [1, 127, 64, 1, 127]
    assert run("f32", 4, 4, 130 * 32, format="bf16").verified


@pytest.mark.parametrize("sizes", [(20, 40, 33), (64, 64, 64)])
def test_integers_are_the_programs(sizes: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(7)
    n, m, k = sizes
    a, b = (rng.integers(-127, 128, shape).astype(np.int32) for shape in ((n, k), (k, m)))
    compiled = pl.compile(source(product("i32")), on="tensix")
    result = compiled.run(N=n, M=m, K=k, A=a, B=b)
    assert np.array_equal(result.outputs["C"], a @ b) and result.data["max_error"] == 0
    less = pl.compile(source(product("i32")), on="tensix", fidelity=2).run(N=n, M=m, K=k, A=a, B=b)
    assert 0 < cast(float, less.data["max_error"]) <= cast(float, less.data["bound"])


def test_python_kernels_and_other_orders_of_dimensions() -> None:
    assert pl.compile(turned, on="tensix").run(N=33, M=5, K=40).verified
    assert pl.compile(rows_of_two, on="tensix").run(N=3, M=15, K=40).verified
    assert pl.compile(EXAMPLES / "matvec.pla", on="tensix").run(N=40, M=33).verified
    assert pl.compile(str(EXAMPLES / "kernels" / "matvec.py"), on="tensix").run(N=40, M=33).verified


@pytest.mark.parametrize(("format", "least"), [("tf32", 0.86), ("bf16", 0.96)])
def test_a_large_product_keeps_the_matrix_unit_busy(format: Any, least: float) -> None:
    """Of FP32 in L1, nine tiles are read for eight products in 64 cycles each, which bounds it at 8/9."""
    result = pl.compile(EXAMPLES / "matmul.pla", on="tensix", format=format).run(N=256, M=256, K=256)
    assert result.verified and result.data["fidelity"] == 4
    used = cast("dict[str, float]", result.data["utilization"])
    assert used["matrix"] >= least
    # 8 x 8 x 8 pairs of tiles, 16 MVMULs in four phases each.
    assert cast(int, result.data["instructions"]) >= 8 * 8 * 8 * 16 * 4


def test_unpackers_bound_what_one_phase_takes() -> None:
    slow, fast = (run("f32", 128, 128, 128, format="bf16", fidelity=n).cycles or 0 for n in (4, 1))
    # Five tiles of 2048 bytes are read for four products, 64 bytes in a cycle: 40 cycles for each.
    assert 64 * 40 <= fast < 0.75 * slow


def known(folder: Path) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    a, b = np.eye(32, dtype=np.float32), np.arange(1024, dtype=np.float32).reshape(32, 32)
    np.save(folder / "A.npy", a)
    np.save(folder / "B.npy", b)
    return a, b


def test_the_file_is_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "mm.elf")
    sizes = ["N=32", "M=32", "K=32"]
    assert main(["compile", str(EXAMPLES / "matmul.pla"), *sizes, "--on", "tensix", "-o", file]) == 0
    a, b = known(tmp_path)
    given = [f"A={tmp_path / 'A.npy'}", "--in", f"B={tmp_path / 'B.npy'}", "--out", f"C={tmp_path / 'C.npy'}"]
    assert main(["simulate", file, "--in", *given]) == 0
    assert np.array_equal(np.load(tmp_path / "C.npy"), a @ b)
    assert main(["verify", file]) == 0
    capsys.readouterr()
    assert main(["show", file]) == 0
    listing = capsys.readouterr().out
    assert all(f"{thread}:" in listing for thread in ("t0", "t1", "t2"))
    assert listing.count("TTMVMUL") == 16 and listing.count("TTMOP ") == 2  # T0's and T1's


def test_the_same_source_gives_the_same_bytes() -> None:
    files = {
        pl.compile(EXAMPLES / "matmul.pla", on="tensix").prepare_instance({"N": 64, "M": 33, "K": 9}).data
        for _ in range(2)
    }
    assert len(files) == 1


def test_keys_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", str(EXAMPLES / "matmul.pla"), "N=64", "M=32", "K=32", "--on", "tensix", "--json"]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["verified"] is True and data["compared_with"] == ["arithmetic", "equations"]
    assert {"instructions", "words", "replayed", "utilization", "max_error", "max_ulp", "bound"} <= set(data)
    # Two tiles of the result, in four phases each: a REPLAY becomes 16 MVMULs; their recording was swallowed.
    assert data["replayed"] == 2 * 4 * 15 - 17


def test_a_trace_has_spans_of_all_units() -> None:
    spans = pl.compile(EXAMPLES / "matmul.pla", on="tensix").run(N=32, M=32, K=32, trace=True).events
    assert {"unpack0", "unpack1", "matrix", "packer"} <= {span.lane.split()[0] for span in spans}


def test_a_difference_from_the_arithmetic_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from polyloom.targets.tensix.map.oracle import arithmetic

    exact = arithmetic.multiply_tiles

    def wrong(*of: Any) -> Any:
        return exact(*of) ^ 1

    monkeypatch.setattr(arithmetic, "multiply_tiles", wrong)
    with pytest.raises(PolyloomError) as error:
        run("f32", 8, 8, 8)
    assert (error.value.code, error.value.exit_code) == ("PL0812", 4)


@pytest.mark.parametrize("on", ["tensix", "minion:1", "tcpa:1x1"])
def test_a_page_without_activity_says_so(on: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left out without a word: a run that is too long to be repeated for its page names the way."""
    compiled = pl.compile(str(EXAMPLES / "matmul.pla"), on=on)
    result, traced = compiled.run(N=4, M=4, K=4), compiled.run(N=4, M=4, K=4, trace=True)
    monkeypatch.setattr("polyloom.run.instance._DRAWN", 1)
    assert result.activity is None and traced.activity is not None
    notice = f"not drawn, since {result.execution.operations:,} operations are too many to repeat: add --trace FILE"
    assert notice in result.page() and notice not in traced.page()
    assert notice in cast(Any, result)._repr_mimebundle_()["text/html"]
