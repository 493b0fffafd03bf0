# SPDX-License-Identifier: Apache-2.0
"""Kernels whose indices are data: on machines that execute them as they stand, beside the Python function; refused on
the array."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python import indirect

import polyloom as pl
from polyloom import transform
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python import Kernel, load_kernel
from polyloom.ir.nest import statements
from polyloom.ir.nest_interpret import interpret
from polyloom.transform.indirect import is_indirect

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

Arrays = dict[str, Any]
PLACES = ("riscv:rv64gc", "belt:silver")
NAMES = [name for name, value in vars(indirect).items() if isinstance(value, Kernel)]
_RNG = np.random.default_rng


def _csr(rng: np.random.Generator, n: int, m: int, k: int) -> Arrays:
    row = np.sort(rng.integers(0, k + 1, n + 1)).astype(np.int32)
    row[[0, -1]] = 0, k
    return {"row": row, "col": rng.integers(0, m, k, np.int32), "v": _floats(rng, k), "x": _floats(rng, m)}


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.integers(-9, 9, shape).astype(np.float32)


def index_inputs(name: str, rng: np.random.Generator, n: int, m: int, k: int) -> Arrays:
    """Inputs with indices in range."""

    def ints(least: int, most: int, count: int = n, dtype: Any = np.int32) -> Any:
        return rng.integers(least, most, count).astype(dtype)

    made: dict[str, Callable[[], Arrays]] = {
        "gather": lambda: {"x": _floats(rng, m), "p": ints(0, m)},
        "scatter": lambda: {"x": _floats(rng, n), "p": rng.permutation(n).astype(np.uint16), "y": _floats(rng, n)},
        "inverse": lambda: {"p": rng.permutation(n).astype(np.int32), "y": ints(0, 9)},
        "histogram": lambda: {"k": ints(0, 256, n, np.uint8), "h": ints(0, 9, 256)},
        "cleared": lambda: {"k": ints(0, m)},
        "csr": lambda: _csr(rng, n, m, k),
        "coordinates": lambda: {"of": ints(0, n, k), "col": ints(0, m, k), "v": _floats(rng, k), "x": _floats(rng, m)},
        "rows": lambda: {"x": _floats(rng, m, k), "p": ints(0, m)},
        "twice": lambda: {"x": ints(-9, 9), "p": ints(0, n), "q": ints(0, n)},
        "guarded": lambda: {"x": ints(-9, 9), "p": ints(-3, n), "y": ints(-9, 9)},
        "chosen": lambda: {"x": ints(-9, 9), "p": ints(-3, n)},
        "both": lambda: {"x": ints(-9, 9), "p": ints(-3, n), "y": ints(-9, 9)},
        "narrow": lambda: {"x": ints(-9, 9, 256), "p": ints(0, 256, n, np.uint8)},
        "bounded": lambda: {"x": ints(-9, 9), "p": ints(0, n)},
        "at": lambda: {"at": ints(-2, n), "test": ints(-9, 9), "at_1": ints(-9, 9)},
    }
    return made[name]()


def _expected(name: str, d: Arrays, n: int) -> Any:
    """What NumPy, or Python over integers, says."""
    match name:
        case "gather":
            return d["x"][d["p"]]
        case "scatter":
            y = d["y"].copy()
            y[d["p"]] = d["x"]
            return y
        case "inverse":
            return np.argsort(d["p"])
        case "histogram":
            return d["h"] + np.bincount(d["k"], minlength=256)
        case "csr":
            return np.array([d["v"][a:b] @ d["x"][d["col"][a:b]] for a, b in zip(d["row"], d["row"][1:], strict=False)])
        case "rows":
            return d["x"][d["p"]]
        case "twice":
            return d["x"][d["p"][d["q"]]] + d["x"][d["p"]]
        case "chosen":
            return np.where(d["p"] >= 0, d["x"][d["p"]] + 1, -7)
        case "narrow":
            return d["x"][(d["p"].astype(int) + 250) % 256]
        case _:
            return None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", NAMES)
def test_machines_agree_with_the_function(name: str, place: str) -> None:
    kernel: Kernel = getattr(indirect, name)
    compiled = pl.compile(kernel, on=place)
    for seed, (n, m, k) in enumerate([(7, 5, 11), (1, 1, 1), (16, 3, 40)]):
        values = {p: {"N": n, "M": m, "K": k}[p] for p in kernel.indirect.parameters}
        arrays = index_inputs(name, _RNG(seed), n, m, k)
        result = compiled.run({**values, **arrays})
        assert result.verified and "the source" in str(result)
        (found,) = result.outputs.values()
        expected = _expected(name, arrays, n)
        assert expected is None or np.array_equal(found, expected)
        (meant,) = interpret(kernel.indirect, values, arrays).values()
        assert np.array_equal(found, meant)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["gather", "scatter", "histogram", "cleared", "csr", "coordinates", "rows", "twice"])
def test_generated_indices_are_in_range(name: str, place: str) -> None:
    kernel: Kernel = getattr(indirect, name)
    values = {p: {"N": 9, "M": 6, "K": 12}[p] for p in kernel.indirect.parameters}
    assert pl.compile(kernel, on=place).run(values).verified


@pytest.mark.parametrize("name", NAMES)
def test_the_function_can_be_called(name: str) -> None:
    arrays = index_inputs(name, _RNG(1), 8, 8, 8)
    kernel: Kernel = getattr(indirect, name)
    for storage in kernel.indirect.storage:
        if storage.role == "argument" and storage.name not in arrays:
            extents = [e.evaluate({"N": 8, "M": 8, "K": 8}) for e in storage.shape]
            arrays[storage.name] = np.zeros(extents, np.float32 if storage.dtype == "f32" else np.int32)
    before = {key: array.copy() for key, array in arrays.items()}
    kernel(**arrays)
    expected = _expected(name, before, 8)
    (written,) = {each.assign.target.name for each in statements(kernel.indirect)} & arrays.keys()
    assert expected is None or np.array_equal(arrays[written], expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_array_refuses_them(name: str) -> None:
    with pytest.raises(PolyloomError, match=r"PL013[67]\]?: .* depends on data"):
        pl.compile(getattr(indirect, name), on="tcpa")


def test_what_shows_at_entry() -> None:
    """Arrays that a run must be given: an assignment at an index of data may keep any element."""
    hidden = {name: transform.write_only_arguments(getattr(indirect, name).indirect) for name in NAMES}
    assert all(is_indirect(getattr(indirect, name).indirect) for name in NAMES)
    assert {name for name, found in hidden.items() if found} == {
        "gather",
        "rows",
        "twice",
        "cleared",
        "csr",
        "coordinates",
        "narrow",
        "chosen",
        "bounded",
    }
    assert hidden["gather"] == hidden["csr"] == {"y"} and hidden["cleared"] == {"h"}


class _Random:
    """Kernels over x, y, and p and q, whose elements are indices and never change."""

    def __init__(self, seed: int) -> None:
        self.rng, self.loops = random.Random(seed), ["i"]

    def text(self) -> str:
        arguments = ", ".join(f"{name}: pl.i32[N]" for name in "xypq")
        head = f"import polyloom as pl\nN = pl.size('N')\n\n\n@pl.kernel\ndef f({arguments}):\n"
        return "\n".join([f"{head}    for i in range(N):", *self.block("        ", 3), "        y[i] += 1", ""])

    def block(self, margin: str, depth: int) -> list[str]:
        return [line for _ in range(self.rng.randint(1, 2)) for line in self.statement(margin, depth)]

    def statement(self, margin: str, depth: int) -> list[str]:
        kind = self.rng.random() if depth else 0.0
        if kind < 0.4:
            operator = self.rng.choice(("=", "+=", "-="))
            return [f"{margin}{self.rng.choice('xy')}[{self.index(2)}] {operator} {self.value(2)}"]
        if kind < 0.75:
            body = [f"{margin}if {self.test(2)}:", *self.block(margin + "    ", depth - 1)]
            return body if kind < 0.55 else [*body, f"{margin}else:", *self.block(margin + "    ", depth - 1)]
        name = f"k{depth}"
        ends = self.rng.choice((f"{self.index(1)}", f"{self.index(1)}, N", f"{self.index(1)}, {self.index(2)}"))
        self.loops.append(name)
        body = self.block(margin + "    ", depth - 1)
        self.loops.pop()
        return [f"{margin}for {name} in range({ends}):", *body]

    def index(self, depth: int) -> str:
        if not depth or self.rng.random() < 0.3:
            return self.rng.choice(self.loops)
        return f"{self.rng.choice('pq')}[{self.index(depth - 1)}]"

    def value(self, depth: int) -> str:
        kind = self.rng.random() if depth else 0.0
        if kind < 0.5:
            return f"{self.rng.choice('xyp')}[{self.index(2)}]"
        a, b = self.value(depth - 1), self.value(depth - 1)
        return f"({a} * 3 + {b})" if kind < 0.8 else f"({a} if {self.test(1)} else {b})"

    def test(self, depth: int) -> str:
        if depth and self.rng.random() < 0.4:
            return f"({self.test(depth - 1)} {self.rng.choice(('and', 'or'))} {self.test(depth - 1)})"
        return f"{self.value(1)} {self.rng.choice(('<', '>=', '!='))} {self.rng.choice((self.value(1), 'i', '2'))}"


@pytest.mark.parametrize("seed", [*range(16), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(16, 40))])
def test_random_kernels(seed: int, tmp_path: Path) -> None:
    """What the nest means, and for some of them what a machine makes of it, beside the function."""
    path = tmp_path / "f.py"
    path.write_text(_Random(seed).text(), encoding="utf-8")
    kernel, rng, n = load_kernel(str(path)), _RNG(seed), 6
    arrays = {name: rng.integers(-9 if name in "xy" else 0, n, n).astype(np.int32) for name in "xypq"}
    expected = {name: array.copy() for name, array in arrays.items()}
    kernel(**expected)
    for name, found in interpret(kernel.indirect, {"N": n}, arrays).items():
        assert np.array_equal(found, expected[name]), path.read_text(encoding="utf-8")
    # An array that is said to show nowhere may begin with anything.
    for name in transform.write_only_arguments(kernel.indirect):
        other = {key: np.full(n, 77, np.int32) if key == name else array.copy() for key, array in arrays.items()}
        kernel(**other)
        written = {each.assign.target.name for each in statements(kernel.indirect)}
        assert all(np.array_equal(other[key], expected[key]) for key in written & {"x", "y"})
    if seed % 5 == 0:
        for place in PLACES:
            assert pl.compile(kernel, on=place).run({"N": n, **arrays}).verified


REFUSED = {
    "of a float": "y[i] = x[f[i]]",
    "of a bool": "y[i] = x[x[i] > 3]",
    "of a product": "y[i] = x[i * i]",
    "unknown": "y[i] = x[q[i]]",
    "bound of a float": "for k in range(f[i]):\n            y[i] = k",
    "outside for all data": "y[i + 1] = x[p[i]]",
}


def test_refused(tmp_path: Any, golden: Golden, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    texts = list[str]()
    for name, line in REFUSED.items():
        head = "def f(x: pl.i32[N], p: pl.i32[N], f: pl.f32[N], y: pl.i32[N]):"
        (tmp_path / "f.py").write_text(
            f"import polyloom as pl\nN = pl.size('N')\n@pl.kernel\n{head}\n    for i in range(N):\n        {line}\n",
            encoding="utf-8",
        )
        assert main(["run", "f.py", "--on", "riscv:rv64gc", "N=4"]) == 1
        texts.append(f"{name}\n{capsys.readouterr().err}")
    golden("indirect", "\n".join(texts))


def test_an_index_outside_is_found(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    p = np.array([0, 9, 1], np.int32)
    np.save(tmp_path / "p.npy", p)
    np.save(tmp_path / "x.npy", np.zeros(3, np.float32))
    words = ["--in", f"p={tmp_path / 'p.npy'}", "--in", f"x={tmp_path / 'x.npy'}"]
    assert main(["run", f"{indirect.__file__}:gather", "--on", "riscv:rv64gc", "N=3", "M=3", *words]) == 1
    error = capsys.readouterr().err
    assert "PL0972]: @gather, line 12" in error
