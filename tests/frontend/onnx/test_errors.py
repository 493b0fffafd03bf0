# SPDX-License-Identifier: Apache-2.0
"""What is said of models that are wrong, or that machines cannot run: the node, its operator, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.conftest import Golden
from tests.frontend.onnx.models import model, value

from polyloom import extras
from polyloom.cli import main
from polyloom.cli.bench.compilation import layer_model
from polyloom.codes import CODES
from polyloom.diagnostics import INPUT, USAGE, PolyloomError
from polyloom.frontend.onnx import load_model, read_file
from polyloom.frontend.onnx.child import prepare
from polyloom.frontend.source import Options

N = helper.make_node


def _single(operator: str, *inputs: str, kind: int = TensorProto.FLOAT, **attributes: Any) -> onnx.ModelProto:
    names = list(dict.fromkeys(inputs))
    return model([N(operator, inputs, ["y"], "it", **attributes)], [value(n, [2, 3], kind) for n in names],
                 [value("y", [2, 3], kind)])  # fmt: skip


def _loop() -> onnx.ModelProto:
    body = helper.make_graph(
        [N("Identity", ["c"], ["d"]), N("Identity", ["a"], ["b"])],
        "body",
        [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("a", [2])],
        [value("d", [], TensorProto.BOOL), value("b", [2])],
    )
    return model([N("Loop", ["m", "c0", "x"], ["y"], "repeat", body=body)], [value("x", [2])], [value("y", [2])],
                 {"m": np.int64(3), "c0": np.bool_(True)})  # fmt: skip


def _sequence() -> onnx.ModelProto:
    made = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [2])
    return model([N("SequenceLength", ["s"], ["y"])], [made], [value("y", [], TensorProto.INT64)])


def _external() -> onnx.ModelProto:
    made = model([N("Add", ["x", "w"], ["y"])], [value("x", [4])], [value("y", [4])], {"w": np.ones(4, np.float32)})
    held = made.graph.initializer[0]
    held.data_location = TensorProto.EXTERNAL
    del held.external_data[:]
    for key, text in (("location", "../secret/weights.bin"), ("offset", "0")):
        held.external_data.add(key=key, value=text)
    held.ClearField("raw_data")
    return made


def _newer() -> onnx.ModelProto:
    made = _single("Relu", "x")
    made.opset_import[0].version = 999
    return made


def _short_tensor() -> onnx.ModelProto:
    made = model([N("Add", ["x", "w"], ["y"])], [value("x", [4])], [value("y", [4])], {"w": np.ones(4, np.float32)})
    made.graph.initializer[0].raw_data = b"\0" * 7
    return made


def _without_shape() -> onnx.ModelProto:
    made = _single("Relu", "x")
    made.graph.input[0].type.tensor_type.ClearField("shape")
    return made


MODELS: Final[Mapping[str, Callable[[], onnx.ModelProto]]] = {
    "unknown operator": lambda: _single("Rellu", "x"),
    "operator that is not read": lambda: _single("Acos", "x"),
    "loop": _loop,
    "sequence": _sequence,
    "newer operator set": _newer,
    "shapes that do not agree": lambda: model(
        [N("Add", ["x", "z"], ["y"], "sum")], [value("x", [2, 3]), value("z", [4, 3])], [value("y", ["a", 3])]
    ),
    "symbolic shapes that do not agree": lambda: model(
        [N("Add", ["x", "z"], ["y"], "sum")], [value("x", ["n", 3]), value("z", ["m", 3])], [value("y", ["a", 3])]
    ),
    "integers of 64 bits": lambda: _single("Abs", "x", kind=TensorProto.INT64),
    "bfloat16": lambda: _single("Abs", "x", kind=TensorProto.BFLOAT16),
    "shape that is data": lambda: model(
        [
            N("Cast", ["x"], ["s"], to=TensorProto.INT32),
            N("Cast", ["s"], ["l"], to=TensorProto.INT64),
            N("ConstantOfShape", ["l"], ["y"], "fill"),
        ],
        [value("x", [2])],
        [value("y", ["a", "b"])],
    ),
    "external data": _external,
    "tensor that is too short": _short_tensor,
    "input without shape": _without_shape,
    "undefined input": lambda: model([N("Relu", ["z"], ["y"])], [value("x", [2])], [value("y", [2])]),
    "product of sizes": lambda: model(
        [N("Reshape", ["x", "s"], ["y"], "flat")], [value("x", ["n", "m"])], [value("y", ["k"])], {"s": np.array([-1])}
    ),
    "indices of maxima": lambda: model(
        [N("MaxPool", ["x"], ["y", "i"], "pool", kernel_shape=[2, 2])],
        [value("x", [1, 1, 4, 4])],
        [value("y", [1, 1, 3, 3]), value("i", [1, 1, 3, 3], TensorProto.INT64)],
    ),
}


def diagnose(made: onnx.ModelProto, options: Options | None = None) -> PolyloomError:
    Path("m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(PolyloomError) as caught:
        load_model("m.onnx", options or Options(), prepare)
    return caught.value


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", MODELS)
def test_a_faulty_model_is_explained(name: str, golden: Golden) -> None:
    error = diagnose(MODELS[name]())
    assert error.exit_code == INPUT
    assert all(d.code in CODES and d.help is not None for d in error.diagnostics)
    golden(f"errors/{name.replace(' ', '_')}", str(error))


def test_every_code_is_shown() -> None:
    shown = {diagnose(made()).code for made in MODELS.values()}
    assert {code for code in CODES if "PL0181" <= code <= "PL0188"} <= shown


@pytest.mark.parametrize("length", [0, 1, 7, 50, 400])
def test_a_file_that_is_cut_is_no_model(length: int) -> None:
    Path("m.onnx").write_bytes(layer_model().SerializeToString()[:length])
    with pytest.raises(PolyloomError) as caught:
        load_model("m.onnx", Options(), prepare)
    assert caught.value.code in ("PL0181", "PL0182")


def test_the_process_of_its_own_says_the_same(capsys: pytest.CaptureFixture[str], golden: Golden) -> None:
    """The command, whose native code runs in a process of its own."""
    Path("m.onnx").write_bytes(MODELS["shapes that do not agree"]().SerializeToString())
    assert main(["run", "m.onnx", "--on", "tcpa"]) == INPUT
    golden("errors/shapes_that_do_not_agree", capsys.readouterr().err)


def test_a_child_that_ends_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_file, "CHILD", str(Path("absent.py").absolute()))
    Path("m.onnx").write_bytes(layer_model().SerializeToString())
    with pytest.raises(PolyloomError, match=r"PL0182.*ends without an answer"):
        load_model("m.onnx", Options())


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(PolyloomError) as caught:
        load_model("m.onnx", Options())
    assert caught.value.exit_code == USAGE
    assert extras.install_command("onnx") in str(caught.value)


def test_external_data_come_from_the_file_that_the_user_names() -> None:
    Path("m.onnx").write_bytes(_external().SerializeToString())
    Path("weights.bin").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    found = load_model("m.onnx", Options(data=("weights.bin",)), prepare)
    np.testing.assert_array_equal(found(x=np.zeros(4, np.float32))["y"], np.arange(4, dtype=np.float32))
    Path("weights.bin").write_bytes(b"\0" * 15)
    with pytest.raises(PolyloomError, match=r"PL0187.*too short"):
        load_model("m.onnx", Options(data=("weights.bin",)), prepare)


@pytest.mark.parametrize("text", ["batch", "batch=", "batch=x", "b=1", "x=1", "batch=-1"])
def test_settings_that_set_nothing_are_refused(text: str, golden: Golden) -> None:
    error = diagnose(layer_model(), Options(values=(text,)))
    assert (error.code, error.exit_code) == ("PL0801", USAGE)
    golden(f"errors/set_{text.replace('=', '_is_')}", str(error))


def test_weights_beyond_the_memory_are_refused_with_both_figures() -> None:
    """Of a machine, not of the host: a tile's L1 of 1.5 MiB."""
    weights = np.ones((1024, 1024), np.float32)
    made = model([N("MatMul", ["x", "w"], ["y"])], [value("x", [32, 1024])], [value("y", [32, 1024])], {"w": weights})
    Path("m.onnx").write_bytes(made.SerializeToString())
    assert numpy_helper.to_array(made.graph.initializer[0]).nbytes == 4 << 20
