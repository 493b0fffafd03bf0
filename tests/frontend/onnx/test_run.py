# SPDX-License-Identifier: Apache-2.0
"""Models from the file to every machine, and from Python; their data, sizes and names."""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tests.frontend.onnx.models import expected, model, read, value

import polyloom as pl
from polyloom.cli import main
from polyloom.cli.bench.compilation import layer_model
from polyloom.frontend.onnx import load_model
from polyloom.frontend.onnx.graph import identifier
from polyloom.frontend.onnx.operators import FAMILIES, NAMES
from polyloom.frontend.onnx.settings import Settings
from polyloom.frontend.source import Options

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

N = helper.make_node
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def small() -> onnx.ModelProto:
    """A product, a bias and a ReLU; the bias is a default of an input."""
    random = np.random.default_rng(0)
    weights = {"w": random.standard_normal((6, 5)).astype(np.float32), "b": np.ones(5, np.float32)}
    nodes = [N("MatMul", ["x:0", "w"], ["p"]), N("Add", ["p", "b"], ["s"]), N("Relu", ["s"], ["for"])]
    return model(nodes, [value("x:0", ["batch", 6]), value("b", [5])], [value("for", ["batch", 5])], weights)


@pytest.mark.parametrize("on", ["riscv", "tcpa", "belt", "minion:32", "tensix"])
def test_a_layer_runs_on_every_machine(on: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("m.onnx").write_bytes(small().SerializeToString())
    np.save("x.npy", np.random.default_rng(2).standard_normal((4, 6)).astype(np.float32))
    assert main(["run", "m.onnx", "batch=4", "--in", "x_0=x.npy", "--out", "for_=y.npy", "--on", on]) == 0
    assert "source" in capsys.readouterr().out
    want = expected(small(), {"x:0": np.load("x.npy")})
    np.testing.assert_allclose(
        np.load("y.npy"), want, rtol=2e-2 if on == "tensix" else 1e-5, atol=1e-2 * (on == "tensix")
    )


def test_python_reads_calls_and_compiles_a_model() -> None:
    Path("m.onnx").write_bytes(small().SerializeToString())
    found = pl.model("m.onnx")
    x = np.random.default_rng(3).standard_normal((3, 6)).astype(np.float32)
    run = pl.compile(found, on="riscv").run(batch=3, x_0=x)
    assert run.verified
    np.testing.assert_array_equal(run.outputs["for_"], found(x_0=x)["for_"])
    # An initializer that is an input, too, is a default.
    other = pl.compile("m.onnx", on="riscv").run(batch=3, x_0=x, b=np.zeros(5, np.float32))
    np.testing.assert_array_equal(other.outputs["for_"], found(x_0=x, b=np.zeros(5, np.float32))["for_"])
    with pytest.raises(pl.PolyloomError, match="PL0232"):
        found(x_0=x[:, :5])
    with pytest.raises(pl.PolyloomError, match="PL0230"):
        found()


def test_element_wise_tails_are_fused() -> None:
    """One nest for the product, and one for everything behind it."""
    found = read(small())
    assert len(found.nest.body) == 2
    assert {s.name for s in found.nest.storage} == {"x_0", "w", "b", "p", "for_"}


def test_twelve_operators_are_read_in_half_a_second() -> None:
    read(layer_model())  # loads what is imported when it is used
    start = process_time()
    assert read(layer_model()).nest.body
    assert process_time() - start < 0.5
    x = np.random.default_rng(4).standard_normal((5, 8)).astype(np.float32)
    want = expected(layer_model(), {"x": x})
    found: Any = read(layer_model())(x=x)["y"]
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)


def test_sizes_are_bound_when_the_model_is_read() -> None:
    Path("m.onnx").write_bytes(layer_model().SerializeToString())
    found = load_model("m.onnx", Options(values=("batch=5",)))
    assert found.program.parameters == ()
    assert found.program["y"].shape[1].constant == 5


def test_reshapes_keep_sizes() -> None:
    """Heads of a sequence whose length is not known."""
    nodes = [
        N("Shape", ["x"], ["s"], start=0, end=2),
        N("Concat", ["s", "h"], ["t"], axis=0),
        N("Reshape", ["x", "t"], ["r"]),
        N("Transpose", ["r"], ["y"], perm=[0, 2, 1, 3]),
    ]
    made = model(nodes, [value("x", ["b", "s", 12])], [value("y", ["b", 3, "s", 4])], {"h": np.array([3, 4])})
    x = np.random.default_rng(5).standard_normal((2, 5, 12)).astype(np.float32)
    np.testing.assert_array_equal(read(made)(x=x)["y"], x.reshape(2, 5, 3, 4).transpose(0, 2, 1, 3))


@pytest.mark.parametrize("past", [0, 3])
def test_a_causal_mask_stands_behind_a_cache_of_any_length(past: int) -> None:
    given = {"x": [1, "t", 4], "k": [1, 2, "s", 2], "v": [1, 2, "s", 2]}
    heads: dict[str, Any] = {"q_num_heads": 2, "kv_num_heads": 2, "is_causal": 1}
    nodes = [N("Attention", ["x", "x", "x", "", "k", "v"], ["y", "keys", "values"], **heads)]
    results = [value("y", [1, "t", 4]), value("keys", [1, 2, "all", 2]), value("values", [1, 2, "all", 2])]
    made = model(nodes, [value(name, extents) for name, extents in given.items()], results, version=23)
    random, sizes = np.random.default_rng(6), {"t": 2, "s": past}
    inputs = {
        name: random.standard_normal([sizes[e] if isinstance(e, str) else e for e in extents]).astype(np.float32)
        for name, extents in given.items()
    }
    want = expected(made, inputs)
    found: Any = read(made)(**inputs)
    np.testing.assert_allclose(found["y"], want, rtol=1e-5, atol=1e-6)
    assert found["keys"].shape == (1, 2, past + 2, 2)


def test_integer_inputs_are_bound() -> None:
    nodes = [N("ReduceSum", ["x", "axes"], ["y"], keepdims=0)]
    made = model(nodes, [value("x", [2, 3, 4]), value("axes", [2], TensorProto.INT64)], [value("y", [3])])
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    found = read(made, Settings({}, {"axes": np.array([0, -1])}))
    np.testing.assert_array_equal(found(x=x)["y"], x.sum((0, 2)))
    Path("m.onnx").write_bytes(made.SerializeToString())
    np.save("axes.npy", np.array([0, 2]))
    for text in ("axes=0,2", "axes=axes.npy"):
        np.testing.assert_array_equal(load_model("m.onnx", Options(values=(text,)))(x=x)["y"], x.sum((0, 2)))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("x", "x"), ("x:0", "x_0"), ("/a/b.c", "a_b_c"), ("1", "t1"), ("if", "if_"), ("", "t"), ("é", "t")],
)
def test_names_become_identifiers(name: str, wanted: str) -> None:
    assert identifier(name, set()) == wanted
    assert identifier(name, {wanted}) == f"{wanted}_2"


def test_an_output_may_be_an_input_and_stand_twice() -> None:
    """The input keeps its name; the output has `_out` behind it."""
    nodes, x, y = [N("Relu", ["x"], ["y"])], value("x", (4,)), value("y", (4,))
    graph = helper.make_graph(nodes, "g", [x], [x, y, y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    Path("m.onnx").write_bytes(made.SerializeToString())
    given = np.array([-1, 0, 2, -3], np.float32)
    run = pl.compile(pl.model("m.onnx"), on="riscv").run(x=given)
    assert run.verified
    assert {name: found.tolist() for name, found in run.outputs.items()} == {
        "x_out": given.tolist(),
        "y": [0, 0, 2, 0],
    }


def test_weights_beyond_the_memory_are_refused_with_both_figures(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the tile that a model is to run on."""
    weights = {"w": np.ones((3, 1 << 20), np.float32)}
    made = model([N("Mul", ["x", "w"], ["y"])], [value("x", [3, 1 << 20])], [value("y", [3, 1 << 20])], weights)
    Path("m.onnx").write_bytes(made.SerializeToString())
    assert main(["run", "m.onnx", "--on", "tensix"]) in (1, 3)
    assert len(set(__import__("re").findall(r"\d{7,}", capsys.readouterr().err))) >= 2


def test_the_page_lists_the_operators() -> None:
    page = (ROOT / "docs" / "onnx.md").read_text(encoding="utf-8")
    for family, operators in FAMILIES.items():
        assert f"| {family} | {', '.join(sorted(operators))} |" in page
    rest = NAMES.difference(*FAMILIES.values())
    assert f"| known when the model is read | {', '.join(sorted(rest))} |" in page


HELP = """
import contextlib, sys
from polyloom.cli import main
from polyloom.cli.bench.compilation import layer_model
with contextlib.suppress(SystemExit):
    main(["run", "--help"])
print({"onnx", "xdsl"} & {*sys.modules})
"""


def test_help_loads_no_package_of_a_front_end() -> None:
    done = __import__("subprocess").run([sys.executable, "-c", HELP], capture_output=True, text=True)
    assert done.stdout.endswith("set()\n"), done.stderr
