# SPDX-License-Identifier: Apache-2.0
"""Which arrays a run takes: all or none of those that are read, unless the rest is asked for; what is only written is
filled in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from examples.kernels.gemm import gemm
from examples.kernels.trisolv import trisolv
from tests.conftest import Golden
from tests.frontend.python.helpers import ROOT

import polyloom as pl
from polyloom.api import Instance

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

N, M = pl.sizes("N M")
Array = np.ndarray[Any, np.dtype[Any]]


@pl.kernel
def inner(x: pl.i32[N], y: pl.i32[N]) -> None:
    """The border of y keeps what it held, so that y is read in effect."""
    for i in range(1, N - 1):
        y[i] = x[i - 1] + x[i + 1]


@pl.kernel
def late(x: pl.i32[N], y: pl.i32[N], z: pl.i32[N], factor: pl.i32) -> None:
    """y is read after it was written, z before."""
    for i in range(N):
        y[i] = factor * x[i]
    for i in range(N):
        z[i] = y[i] + z[i]
    for i in range(N):
        y[i] = y[i] + 1


def instance_of(kernel: object, **sizes: int) -> Instance:
    return pl.compile(kernel, on="tcpa:2x2").instantiate(sizes)  # pyright: ignore[reportArgumentType]


@pytest.fixture(scope="module")
def product() -> Instance:
    return instance_of(gemm, NI=3, NJ=4, NK=5)


@pytest.fixture(scope="module")
def chained() -> Instance:
    return instance_of(late, N=6)


@pytest.fixture(scope="module")
def loaded(chained: Instance, tmp_path_factory: pytest.TempPathFactory) -> Instance:
    path = tmp_path_factory.mktemp("files") / "late.plcc"
    chained.save(path)
    found = pl.load(path)
    assert isinstance(found, Instance)
    return found


A, B, C = np.ones((3, 5), np.float32), np.ones((5, 4), np.float32), np.ones((3, 4), np.float32)
X, Z = np.arange(6, dtype=np.int32), np.full(6, 10, np.int32)


def frozen() -> Array:
    array = np.zeros(6, np.int32)
    array.flags.writeable = False
    return array


REFUSED: dict[str, Callable[[Instance, Instance, Instance], object]] = {
    "one-missing": lambda product, _, __: product.run(A=A, B=B),
    "two-missing": lambda product, _, __: product.run({"B": B}, alpha=1.0),
    "measure": lambda product, _, __: product.measure({"B": B}),
    "read-and-written": lambda _, chained, __: chained.run(x=X),
    "only-a-result": lambda _, chained, __: chained.run(y=np.zeros(6, np.int32)),
    "loaded": lambda _, __, loaded: loaded.run(x=X),
    "loaded-nothing": lambda _, __, loaded: loaded.run(),
    "result-type": lambda _, chained, __: chained.run(x=X, z=Z, y=np.zeros(6)),
    "result-shape": lambda _, chained, __: chained.run(x=X, z=Z, y=np.zeros((6, 1), np.int32)),
    "result-read-only": lambda _, chained, __: chained.run(x=X, z=Z, y=frozen()),
    "result-no-array": lambda _, chained, __: chained.run(x=X, z=Z, y=[0] * 6),
    "unknown": lambda _, chained, __: chained.run(x=X, z=Z, w=Z),
    "unknown-fill": lambda _, chained, __: chained.run(x=X, fill="zeros"),  # pyright: ignore[reportArgumentType]  # what a script may pass
}


@pytest.mark.parametrize("name", REFUSED)
def test_message(name: str, product: Instance, chained: Instance, loaded: Instance, golden: Golden) -> None:
    with pytest.raises(pl.PolyloomError) as caught:
        REFUSED[name](product, chained, loaded)
    assert caught.value.exit_code == 1
    golden(f"arrays/{name}", str(caught.value))


def test_all_arrays_or_none(product: Instance) -> None:
    expected = np.ones((3, 4), np.float32)
    gemm(2.0, 3.0, expected, A, B)
    result = product.run(A=A, B=B, C=C, alpha=2.0, beta=3.0)
    assert result.verified and np.array_equal(result.outputs["C"], expected)
    assert np.all(C == 1), "an array that is read does not change"
    assert product.run().verified
    assert product.run(alpha=2.0).verified, "scalars are no arrays"
    assert product.run(A=A, B=B, C=C).verified, "scalars that are not given are made up"


def test_the_rest_on_request(product: Instance) -> None:
    first, again, other = (product.run(A=A, fill="random", seed=seed).outputs["C"] for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    given = product.run(A=A, fill="random", seed=1)
    assert given.verified
    assert np.array_equal(product.run(fill="random", seed=1).outputs["C"], product.run(seed=1).outputs["C"])


def test_what_is_only_written_is_filled(chained: Instance, loaded: Instance) -> None:
    expected = {"y": np.zeros(6, np.int32), "z": Z.copy()}
    late(X, expected["y"], expected["z"], 3)
    for instance in (chained, loaded):
        y, z, given = np.full(12, 77, np.int32)[::2], Z.copy(), X.copy()
        result = instance.run(x=given, y=y, z=z, factor=3)
        assert np.array_equal(y, expected["y"]) and np.array_equal(result.outputs["y"], y)
        assert np.array_equal(result.outputs["z"], expected["z"]) and np.array_equal(z, Z)
        without = instance.run(x=X, z=Z, factor=3)
        assert np.array_equal(without.outputs["y"], expected["y"])


def test_measure_fills_nothing(chained: Instance) -> None:
    y = np.full(6, 77, np.int32)
    assert chained.measure({"x": X, "z": Z, "y": y}).verified
    assert np.all(y == 77)


def test_files_make_nothing_up_unless_asked(loaded: Instance) -> None:
    result = loaded.run(x=X, fill="random", seed=3)
    assert result.verified is None and result.outputs["y"].shape == (6,)


def test_elements_that_keep_what_they_held_are_read() -> None:
    with pytest.raises(pl.PolyloomError, match="but the array `y` is missing"):
        instance_of(inner, N=5).run(x=np.arange(5, dtype=np.int32))


def test_numpy_style() -> None:
    solver = instance_of(trisolv, N=5)
    L, b, x = np.eye(5, dtype=np.float32), np.arange(5, dtype=np.float32), np.full(5, np.nan, np.float32)
    assert solver.run(L=L, x=x, b=b).verified
    assert np.array_equal(x, b)


def test_equations_have_outputs_too() -> None:
    matvec = pl.compile(ROOT / "examples/matvec.pla", on="tcpa:unit:2x2").instantiate(N=3, M=2)
    y = np.zeros(3, np.float32)
    assert matvec.run(A=np.ones((3, 2), np.float32), x=np.ones(2, np.float32), y=y).verified
    assert y.tolist() == [2, 2, 2]
    with pytest.raises(pl.PolyloomError, match="but the array `x` is missing"):
        matvec.run(A=np.ones((3, 2), np.float32), y=y)
