# SPDX-License-Identifier: Apache-2.0
"""The user's side: kernels in a module, sizes, calls on arrays, semantics of single operations, what type checkers
say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import ROOT, arguments, assert_same, meaning

import polyloom as pl
from polyloom.frontend.python import load_kernel

N, T = pl.sizes("N T")
SIZE = pl.size("N")
ONLY = pl.sizes("N")


@pl.kernel
def scaled(x: pl.f32[N], y: pl.f32[N + 1], gain: pl.f32) -> None:
    """y := gain x, T times."""
    for _t in range(T):
        for i in range(N):
            y[i + 1] = gain * x[i] + 0.1


@pl.kernel
def wrapping(a: pl.i8[N], b: pl.i32[N], e: pl.i8) -> None:
    for i in range(N):
        a[i] = a[i] * e + 100
        b[i] = b[i] * 65537 - 2147483647


@pl.kernel
def divided(a: pl.i32[N], q: pl.i32[N], r: pl.i32[N], s: pl.i32[N]) -> None:
    for i in range(N):
        q[i] = a[i] // -3
        r[i] = a[i] % -3
        s[i] = a[i] >> 33


@pl.kernel
def selected(x: pl.f32[N], y: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = max(min(x[i], 2.0), -2.0)


@pl.kernel
def least(a: pl.i32[N], b: pl.i32[N]) -> None:
    for i in range(N):
        a[i] = max(a[i], -2147483648)
        b[i] = i - 2147483648


def test_the_least_constant() -> None:
    result = pl.compile(least).instantiate(N=5, pes=(1, 2)).run(a=np.arange(-2147483648, -2147483643, dtype=np.int32))
    assert result.outputs["a"].tolist() == result.outputs["b"].tolist() == [n - 2147483648 for n in range(5)]


def test_kernel_is_the_function() -> None:
    assert (scaled.name, scaled.__doc__) == ("scaled", "y := gain x, T times.")
    assert scaled.source.startswith("def scaled(") and scaled.path == __file__
    assert repr(scaled) == "<kernel scaled>"
    assert scaled.nest.parameters == ("N", "T")


def test_one_name_is_one_size() -> None:
    assert repr(ONLY) == repr(SIZE) == "N"
    (alone,) = ONLY
    assert repr(alone) == "N"
    assert repr(2 * (N - 1) - T) == "2*N - T - 2"
    with pytest.raises(TypeError, match="has no value outside of a kernel"):
        range(N)


def test_sizes_come_from_shapes_and_keywords() -> None:
    x, y = np.ones(3, np.float32), np.zeros(4, np.float32)
    scaled(x, y, 0.1, T=1)
    assert y.tolist() == [0.0, *[float(np.float32(0.1) + np.float32(0.1))] * 3]
    scaled(x, y[::-1], gain=np.float32(2), T=0)
    assert y[0] == 0


def test_reference_changes_no_input() -> None:
    x, y = np.ones(3, np.float32), np.zeros(4, np.float32)
    result = scaled.reference({"N": 3, "T": 1}, {"x": x, "y": y, "gain": np.array(2, np.float32)})
    assert list(result) == ["y"] and result["y"][1] == np.float32(2.1) and not y.any()
    assert scaled.reference({"N": 3, "T": 0}, {"x": x, "gain": np.array(2, np.float32)})["y"].tolist() == [0, 0, 0, 0]


@pytest.mark.filterwarnings("error")
def test_integers_wrap_silently() -> None:
    a, b = np.array([1, 100, -128], np.int8), np.array([1, -5, 2**31 - 1], np.int32)
    expected = (a.astype(int) * 3 + 100, b.astype(int) * 65537 - 2147483647)
    wrapping(a, b, 3)
    assert [a.tolist(), b.tolist()] == [expected[0].astype(np.int8).tolist(), expected[1].astype(np.int32).tolist()]


def test_integer_division_floors_and_shift_amounts_count_modulo_the_width() -> None:
    a = np.array([7, -7, 6, 0, -2147483648], np.int32)
    q, r, s = (np.zeros(5, np.int32) for _ in range(3))
    divided(a, q, r, s)
    assert [q.tolist(), r.tolist(), s.tolist()] == [
        [v // -3 for v in a.tolist()],
        [v % -3 for v in a.tolist()],
        [v >> 1 for v in a.tolist()],
    ]


@pytest.mark.filterwarnings("error")
def test_min_and_max_prefer_numbers_and_the_first_of_equals() -> None:
    x = np.array([np.nan, 5, -5, -0.0], np.float32)
    y = np.zeros(4, np.float32)
    selected(x, y)
    assert y.tolist() == [2, 2, -2, 0] and np.signbit(y[3])


def test_typed_constants_are_numpy_scalars_outside_of_kernels() -> None:
    assert type(pl.f32(0.5)) is np.float32
    assert pl.sqrt(2.0) == np.sqrt(np.float32(2))


def test_kernels_of_a_function_see_its_variables() -> None:
    def make(factor: int) -> pl.Kernel:
        @pl.kernel
        def multiplied(b: pl.i32[N]) -> None:
            for i in range(N):
                b[i] *= factor

        return multiplied

    b = np.array([2, 3], np.int32)
    make(5)(b)
    assert b.tolist() == [10, 15]


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "shared_sizes.py").write_text("import polyloom as pl\n\nN = pl.size('N')\nSTEP = 2\n", encoding="utf-8")
    (tmp_path / "f.py").write_text(
        "import polyloom as pl\nimport shared_sizes as s\n\n\n@pl.kernel\ndef f(b: pl.i32[s.N]) -> None:\n    for i "
        "in range(s.N):\n        b[i] = s.STEP\n",
        encoding="utf-8",
    )
    b = np.zeros(2, np.int32)
    load_kernel(str(tmp_path / "f.py"))(b)
    assert b.tolist() == [2, 2]


def test_kernels_are_cheap_to_import() -> None:
    code = (
        "import sys, polyloom as pl; pl.kernel, pl.sizes('N M'); print([m for m in ('ortools', 'polyloom.api') if "
        "m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        == "[]\n"
    )


def test_every_construct_compiles_and_runs() -> None:
    kernel = load_kernel(str(Path(__file__).parent / "constructs.py"))
    parameters = {"N": 5, "M": 4, "T": 3, "n": 4}
    inputs = arguments(kernel.nest, parameters)
    assert_same(meaning(kernel.nest, parameters, inputs), kernel.reference(parameters, inputs))


def checker() -> str:
    """The type checker of the environment that runs the tests."""
    beside = Path(sys.executable).parent / "basedpyright"
    return str(beside) if beside.exists() else shutil.which("basedpyright") or pytest.skip("needs basedpyright")


MISTAKES = ("x[i] = b[i]", "b[i] = 0.5", "x[i] = x[i] + b[i]", "x[x[i]] = 0.0", "b[i] = b[i] / 2")


def test_type_checkers_accept_kernels_and_refuse_mistakes(tmp_path: Path) -> None:
    """Strict, as in a user's project: every construct passes, each mistake is reported on its line."""
    shutil.copy(Path(__file__).parent / "constructs.py", tmp_path)
    head = (
        'import polyloom as pl\n\nN = pl.size("N")\n\n\n@pl.kernel\ndef f(x: pl.f32[N], b: pl.i32[N]) -> None:\n   '
        " for i in range(N):\n"
    )
    (tmp_path / "mistakes.py").write_text(head + "".join(f"        {line}\n" for line in MISTAKES), encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"typeCheckingMode": "strict", "extraPaths": ["{ROOT / "src"}"]}}', encoding="utf-8"
    )
    found = subprocess.run(
        [checker(), "--pythonpath", sys.executable, "."], capture_output=True, text=True, check=False, cwd=tmp_path
    ).stdout
    reported = {int(line.split(":")[1]) for line in found.splitlines() if "mistakes.py:" in line and " - error" in line}
    assert reported == set(range(9, 9 + len(MISTAKES))), found
    assert not [line for line in found.splitlines() if " - error" in line and "mistakes.py" not in line], found
