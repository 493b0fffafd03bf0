# SPDX-License-Identifier: Apache-2.0
"""Programs in C on the model beside NumPy: vectors, floats by calls, barriers, messages, products, C++ and assembly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.targets.minion.c.programs import DOUBLED, FLOATS, PRODUCT, SHIRE, VECTORS, run_c

pytest.importorskip("ziglang", reason="C needs the extra `c`")

EXAMPLE = Path(__file__).parents[4] / "examples" / "minion" / "reduce.c"
F32 = np.float32


def test_vectors(tmp_path: Path) -> None:
    x = np.random.default_rng(1).integers(-40, 40, (40, 8)).astype(F32)
    index = np.array([28, 0, 4, 8, 24, 20, 12, 16], np.int32)
    words = np.array([0, 0, 5, 0, 0, 0, 0, 0], np.uint64)
    found = run_c(
        tmp_path,
        {"v.c": VECTORS},
        {"in": x, "index": index, "words": words},
        {"out": "16x8:f32", "words": "8:u64"},
    )
    out, words = found["out"], found["words"]
    a, b, total = x[0], x[1], (x * x[::-1]).sum(0)
    lanes = np.array([0x35 >> k & 1 for k in range(8)], bool)
    assert np.array_equal(out[0], total)
    assert (out[1] == 2 * a - b).all()
    assert np.array_equal(out[2], a * b - total)
    assert (out[3] == np.where(lanes, a, 0)).all()
    masked = a.copy()
    masked[lanes] = (a * b)[lanes]
    assert np.array_equal(out[4], masked)
    assert words[0] == sum(1 << k for k in range(8) if a[k] < b[k])
    assert out[5].tolist() == x.reshape(-1)[index // 4].tolist()
    assert np.array_equal(out[6][index // 4], a)
    assert words[1:4].tolist() == [5, 77, 77]
    assert (out[8].view(np.int32) == np.where(a < b, -1, 0)).all()
    assert (out[9] == a).all()
    assert np.array_equal(out[10].view(np.int32), (index - 7) << 3)
    assert out[11].tolist() == a.reshape(2, 4)[:, ::-1].reshape(8).tolist()
    assert words[4] == a[5:6].view(np.uint32)[0]
    assert np.array_equal(out[12], np.minimum(a, b))


def test_floats_by_calls(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, 3.4e38, 1.2e-38, 2**31, -(2**31), 16777217], F32)
    a = np.concatenate([np.repeat(special, 8), (random.normal(size=8) * 1e6).astype(F32)])
    b = np.concatenate([np.tile(special, 8), (random.normal(size=8) * 7).astype(F32)])
    integers = random.integers(-(2**62), 2**62, 96) >> random.integers(0, 60, 96)
    names = ("sums", "differences", "products", "quotients", "longs", "fused")
    kinds = dict.fromkeys(names, "96:f32") | {
        "less": "96:i32",
        "equal": "96:i32",
        "whole": "96:i32",
        "wide": "96:i64",
    }
    found = run_c(tmp_path, {"f.c": FLOATS}, {"a": a, "b": b, "in": integers.astype(np.int64)}, kinds)

    def flushed(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < F32(2.0**-126), np.copysign(F32(0), x), x).astype(F32)

    with np.errstate(all="ignore"):
        expected = {
            "sums": a + b, "differences": a - b, "products": a * b, "quotients": a / b,
            "longs": integers.astype(F32), "fused": (a.astype(float) * b + 1).astype(F32),
        }  # fmt: skip
        for name, exact in expected.items():
            difference = ~((found[name] == flushed(exact)) | (np.isnan(exact) & np.isnan(found[name])))
            assert not difference.any(), (name, a[difference], b[difference], found[name][difference])
        assert (found["less"] == (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b)).all()
        assert (found["equal"] == (a == b) + 2 * (a != b)).all()
        finite = np.nan_to_num(a.astype(float), nan=2.0**63, posinf=2.0**63, neginf=-(2.0**63))
        assert found["wide"].tolist() == [max(-(2**63), min(2**63 - 1, int(each))) for each in finite]
        assert found["whole"].tolist() == [max(-(2**31), min(2**31 - 1, int(each))) for each in finite]


def test_barrier_of_all_harts(tmp_path: Path) -> None:
    found = run_c(tmp_path, {"s.c": SHIRE}, {}, {"sum": "1:u64"}, "minion:32", "--stack", "1000")
    assert found["sum"][0] == 64 * 65 // 2


def test_product_in_cpp_with_assembly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = np.random.default_rng(3).integers(-9, 9, (2, 16, 16)).astype(F32)
    sources = {"p.cc": PRODUCT, "d.s": DOUBLED}
    found = run_c(tmp_path, sources, {"a": a, "b": b}, {"c": "16x16:f32", "answer": "1:u64"})
    assert (found["c"] == a @ b).all()
    assert found["answer"][0] == 42
    assert "done\n" in capsys.readouterr().out


def test_reduction_example(tmp_path: Path) -> None:
    x = np.random.default_rng(4).normal(size=2048).astype(F32)
    found = run_c(tmp_path, {"reduce.c": EXAMPLE.read_text()}, {"in": x}, {"totals": "32x16:f32"}, "minion:32")
    sums = x.reshape(32, 8, 8)
    lanes = sums[:, 0] * 0
    for k in range(8):
        lanes = lanes + sums[:, k]
    for _ in range(5):
        lanes = lanes[1::2] + lanes[::2]
    halves = lanes[0].reshape(2, 4)
    pairs = halves + halves[:, [2, 3, 0, 1]]
    whole = pairs + pairs[:, [1, 0, 3, 2]]
    assert (found["totals"][:, :8] == whole[0, 0] + whole[1, 0]).all()
    assert abs(found["totals"][0, 0] - x.astype(float).sum()) < 1e-3
