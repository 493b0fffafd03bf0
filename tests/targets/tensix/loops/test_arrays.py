# SPDX-License-Identifier: Apache-2.0
"""Kernels of whole arrays on a tile: stages are their array operations, and the host lays out views of arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from tests.frontend.python.arrays.test_constructs import KERNELS, SIZES

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.stage_text import print_stages
from polyloom.targets.tensix.map.loops.form import TILE
from polyloom.targets.tensix.words.arrays.views import decode_views, encode_views, specialize_views, view_arrays
from polyloom.transform.stages.array_formulas import array_formulas
from polyloom.transform.stages.array_statements import straighten
from polyloom.transform.stages.stage_cutting import cut_stages

RUN = (
    "slices",
    "augmented",
    "sums",
    "einsum",
    "batches",
    "pads",
    "joined",
    "triangles",
    "tables",
    "enumerated",
    "maxima",
)
# What stages lack, phases of vector code may have.
PHASES = ("broadcasting", "cumulative_sums", "factors", "zipped")
REFUSED = {
    "powers": "no instruction of a tile does this: `pow` of f32",
    "conversions": "the result `y` is i32 in a program of f32",
}
HEAD = "import numpy as np\nimport polyloom as pl\n\nN, M = pl.sizes('N M')\n\n\n@pl.kernel\n"


@pytest.mark.parametrize("name", (*RUN, *PHASES))
def test_a_tile_runs_it(name: str) -> None:
    kernel = KERNELS[name]
    sizes = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    result = pl.compile(kernel, on="tensix").run(sizes)
    assert result.verified and result.outcome.comparisons[-1].name == "numpy"
    for error, bound in (result.outcome.comparisons[-1].outputs or {}).values():
        assert bound is not None and error <= bound < 0.2


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_tile_lacks_is_named(name: str) -> None:
    kernel = KERNELS[name]
    with pytest.raises(PolyloomError, match=REFUSED[name]) as caught:
        pl.compile(kernel, on="tensix").run({p: SIZES[0][p] for p in kernel.arrays.program.parameters})
    assert caught.value.diagnostics[0].help


def test_stages_and_views_of_a_program(golden: Callable[..., None]) -> None:
    texts = list[str]()
    for name in ("slices", "sums", "einsum", "joined"):
        program = KERNELS[name].arrays.program
        made = array_formulas(program, straighten(program))
        texts += [f"# {name}", print_arrays(made.views), print_stages(cut_stages(made.formulas, TILE))]
    golden("arrays", "\n".join(texts))


def test_views_are_made_of_what_was_given(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(HEAD + "def f(x: pl.f32[N], y: pl.f32[N]) -> None:\n    y[:] = np.roll(x, 1) + np.flip(x)\n")
    program = load_kernel(str(file)).arrays.program
    views = specialize_views(array_formulas(program, straighten(program)).views, {"N": 5})
    x = np.arange(5, dtype=np.float32)
    made = view_arrays(decode_views(encode_views(views)), {}, {"x": x})
    assert {tuple(array) for name, array in made.items() if name != "x"} == {(4, 0, 1, 2, 3), (4, 3, 2, 1, 0)}


@pytest.mark.parametrize(
    "body",
    [
        "  y[$0] : [4] = apply.add.f32(x[$0] : [4], x[$0] : [4])",
        "  for i from [0] below [1000000000] {\n  y[$0] : [4] = x[$0] : [4]\n  }",
        "  y[$0] : [4] = z[$0] : [4]",
        "  y[$0] : [5] = x[$0] : [5]\n  nonsense",
        "  y[$0] : [K] = x[$0] : [K]",
    ],
)
def test_views_of_strangers_only_move_elements(body: str) -> None:
    head = "program f() where true {\nargument x: f32[4]\nargument y: f32[4]\n"
    assert decode_views(head + "  y[$0] : [4] = x[$0] : [4]\n}\n") is not None
    with pytest.raises(ValueError, match=r".*"):
        decode_views(f"{head}{body}\n}}\n")


def test_a_view_beyond_its_array_is_clamped() -> None:
    text = "program f() where true {\nargument x: f32[4]\nargument y: f32[4]\n  y[$0] : [4] = x[$0 + 900] : [4]\n}\n"
    found = view_arrays(decode_views(text), {}, {"x": np.arange(4, dtype=np.float32)})
    assert found["y"].tolist() == [3, 3, 3, 3]


def test_views_of_large_arrays_are_refused() -> None:
    text = "program f() where true {\nargument y: f32[4000000000]\n  y[$0] : [1] = f32(1.0)\n}\n"
    with pytest.raises(ValueError, match=r".*"):
        decode_views(text)


@pytest.mark.parametrize("relation", ["<", "<=", ">", ">=", "==", "!="])
def test_a_comparison_of_indices_is_a_mask(relation: str, tmp_path: Path) -> None:
    """A triangle of a product: the matrix unit computes all of it, the vector unit selects."""
    file = tmp_path / "f.py"
    text = f"np.where(np.arange(N)[:, None] {relation} np.arange(N) + 2, A @ A.T + C, C)"
    file.write_text(f"{HEAD}def f(C: pl.f32[N, N], A: pl.f32[N, M]) -> None:\n    C[:, :] = {text}\n")
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {"C": rng.random((40, 40), np.float32), "A": rng.random((40, 33), np.float32)}
    result = pl.compile(str(file), on="tensix").run({"N": 40, "M": 33}, **{n: x.copy() for n, x in given.items()})
    assert result.verified and [stage["what"] for stage in cast("list[dict[str, Any]]", result.data["stages"])] == [
        "product",
        "element-wise",
    ]
    changed = np.asarray(result.outputs["C"]) != given["C"]
    expected = eval(f"np.arange(40)[:, None] {relation} np.arange(40) + 2")
    assert np.array_equal(changed, expected)


@pytest.mark.parametrize("name", ["syrk", "syr2k", "trmm", "symm"])
def test_triangles_are_products(name: str) -> None:
    """Whole arrays mean what the loops over triangles mean, and run on the matrix unit."""
    examples, sizes = Path(pl.__file__).parents[2] / "examples", {"N": 35, "M": 33}
    arrays, loops = (
        load_kernel(str(examples / "arrays/triangles.py"), name),
        load_kernel(str(examples / f"kernels/{name}.py"), name),
    )
    result = pl.compile(arrays, on="tensix").run(sizes)
    assert result.verified
    assert "product" in [stage["what"] for stage in cast("list[dict[str, Any]]", result.data["stages"])]
    rng, inputs = np.random.default_rng(1), dict[str, Any]()
    for argument in (each for each in loops.nest.storage if each.role == "argument"):
        shape = tuple(extent.evaluate(sizes) for extent in argument.shape)
        inputs[argument.name] = rng.random(shape, np.float32)
    ours, theirs = (each.reference(sizes, {n: x.copy() for n, x in inputs.items()}) for each in (arrays, loops))
    assert all(np.allclose(ours[n], theirs[n], rtol=1e-4) for n in theirs)
