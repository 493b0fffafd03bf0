# SPDX-License-Identifier: Apache-2.0
"""Element types and ends of their ranges: results of other types than operands, saturation, attributes by version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from tests.frontend.onnx.models import expected, model, one_node, read, value

from polyloom.diagnostics import PolyloomError
from polyloom.ir.arrays.program import Program

HALF = np.array([1.5, 2.5], np.float16)
SINGLE = np.array([0.5, 2.0], np.float32)


def compute(operator: str, inputs: dict[str, Any], version: int = 21, outputs: int = 1, **attributes: Any) -> Any:
    """The program's outputs, and the first one by the package's reference evaluator."""
    made, given = one_node(operator, inputs, version, outputs, **attributes)
    return read(made)(**given), expected(made, given)


def test_a_power_has_the_type_of_its_base() -> None:
    for base, exponent in ((SINGLE, HALF), (SINGLE.astype(np.float64), SINGLE.astype(np.float64))):
        found, wanted = compute("Pow", {"x": base, "e": exponent})
        np.testing.assert_allclose(found["y"], wanted, rtol=1e-5)
        assert found["y"].dtype == base.dtype


def test_statistics_of_half_precision_are_of_single() -> None:
    """LayerNormalization, version 17: its second and third output are of `stash_type`."""
    one = np.ones(3, np.float16)
    found, wanted = compute("LayerNormalization", {"x": np.eye(3, dtype=np.float16), "g": one, "b": one}, 17, 3)
    np.testing.assert_allclose(found["y"], wanted, rtol=1e-2)
    assert [found[name].dtype for name in ("y", "y1", "y2")] == [np.float16, np.float32, np.float32]


def test_each_step_of_a_softmax_rounds_to_half_precision() -> None:
    """ONNX defines it as a function of five operators; the node tests of attention notice sums of other numbers."""
    x = np.linspace(-4, 3, 96, dtype=np.float16).reshape(4, 24)
    found, wanted = compute("Softmax", {"x": x})
    np.testing.assert_array_equal(found["y"], wanted, strict=True)


@pytest.mark.parametrize("x", [np.array([0, 5], np.uint8), np.array([0, np.nan, -2, 3], np.float32)])
def test_a_sign_is_of_the_operands_type(x: Any) -> None:
    found, wanted = compute("Sign", {"x": x})
    np.testing.assert_array_equal(found["y"], wanted, strict=True)


@pytest.mark.parametrize("zero", [np.array(128, np.uint8), np.array([128] * 4 + [7], np.uint8)])
def test_large_quotients_saturate(zero: Any) -> None:
    x = np.array([3e9, -3e9, np.inf, -np.inf, 1], np.float32)
    scale = np.ones(zero.shape, np.float32)
    made, given = one_node("QuantizeLinear", {"x": x, "s": scale, "z": zero}, axis=0)
    np.testing.assert_array_equal(read(made)(**given)["y"], [255, 0, 255, 0, 1 + int(zero.reshape(-1)[-1])])


def test_blocks_of_one_axis_have_scales_of_their_own() -> None:
    x, scale = np.arange(6, dtype=np.float32), np.array([1, 2], np.float32)
    found, wanted = compute("QuantizeLinear", {"x": x, "s": scale}, 21, axis=0, block_size=3)
    np.testing.assert_array_equal(found["y"], wanted)


def size(program: Program) -> int:
    return len(repr(program))


def test_a_maximum_of_many_operands_stays_small() -> None:
    """Each operand is read several times by the comparison that keeps NaNs, and is not written out each time."""
    sizes = dict[int, int]()
    for count in (3, 6):
        arrays = {f"x{n}": np.array([n, -n, np.nan if n == 1 else 0], np.float32) for n in range(count)}
        made, given = one_node("Max", arrays)
        np.testing.assert_array_equal(read(made)(**given)["y"], expected(made, given))
        sizes[count] = size(read(made).program)
    assert sizes[6] < 4 * sizes[3]


def test_a_mean_of_equal_numbers_is_the_number() -> None:
    x = np.linspace(0.1, 9, 99, dtype=np.float32)
    found, _ = compute("Mean", dict.fromkeys("abcdefg", x))
    total = x.copy()
    for _ in range(6):
        total += x
    np.testing.assert_array_equal(found["y"], total / np.float32(7))


@pytest.mark.parametrize("operator", ["Exp", "Softmax", "ReduceLogSum"])
def test_functions_of_types_that_they_lack_are_refused_where_they_stand(operator: str) -> None:
    x = np.ones((2, 2), np.int32 if operator == "ReduceLogSum" else np.float64)
    made, _ = one_node(operator, {"x": x})
    with pytest.raises(PolyloomError, match="no machine has") as caught:
        read(made)
    assert caught.value.code == "PL0185"
    assert caught.value.diagnostics[0].span is not None


@pytest.mark.parametrize(("fmod", "rest"), [(0, [2, 1]), (1, [-1, 1])])
def test_known_remainders_have_the_sign_that_the_attribute_says(fmod: int, rest: list[int]) -> None:
    """They become a shape: 7 + the remainder."""
    nodes = [
        helper.make_node("Mod", ["a", "b"], ["r"], fmod=fmod),
        helper.make_node("Add", ["r", "seven"], ["s"]),
        helper.make_node("Expand", ["x", "s"], ["y"]),
    ]
    held = {"a": np.array([-7, 7]), "b": np.array([3, 3]), "seven": np.array([7, 7])}
    made = model(nodes, [value("x", [1])], [value("y", ["r", "s"])], held)
    assert read(made)(x=np.ones(1, np.float32))["y"].shape == tuple(7 + r for r in rest)


def test_parts_of_known_numbers_are_an_attribute_up_to_version_12() -> None:
    nodes = [
        helper.make_node("Split", ["a"], ["p", "q"], split=[1, 2]),
        helper.make_node("Expand", ["x", "q"], ["y"]),
        helper.make_node("Expand", ["x", "p"], ["z"]),
    ]
    made = model(nodes, [value("x", [1])], [value("y", ["r", "s"]), value("z", ["t"])], {"a": np.array([4, 3, 2])}, 11)
    found = read(made)(x=np.ones(1, np.float32))
    assert (found["y"].shape, found["z"].shape) == ((3, 2), (4,))


def test_infinities_of_no_sign_are_none() -> None:
    found, wanted = compute("IsInf", {"x": np.array([np.inf, 1], np.float32)}, 20, detect_negative=0, detect_positive=0)
    np.testing.assert_array_equal(found["y"], wanted)
    assert helper.np_dtype_to_tensor_dtype(found["y"].dtype) == TensorProto.BOOL


def stored(kind: int, numbers: list[Any], *nodes: Any, scale: float = 0.5) -> Any:
    """The output y of a graph over an initializer c of two elements, and a scale s."""
    held = [helper.make_tensor("c", kind, [2], numbers), helper.make_tensor("s", TensorProto.FLOAT, [], [scale])]
    graph = helper.make_graph(nodes, "g", [], [value("y", [2])], held)
    found: Any = read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))
    return found()["y"]


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        (TensorProto.BFLOAT16, [1.5, -2.5]),
        (TensorProto.FLOAT8E4M3FN, [1.5, -2.0]),
        (TensorProto.INT4, [7, -8]),
        (TensorProto.UINT64, [2**33, 5]),
    ],
)
def test_weights_of_a_type_that_no_machine_has_are_cast_when_the_model_is_read(kind: int, numbers: list[Any]) -> None:
    nodes = [helper.make_node("Cast", ["c"], ["f"], to=TensorProto.FLOAT), helper.make_node("Neg", ["f"], ["y"])]
    np.testing.assert_array_equal(stored(kind, numbers, *nodes), -np.array(numbers, np.float32), strict=True)


def test_weights_of_four_bits_are_dequantized() -> None:
    nodes = [helper.make_node("DequantizeLinear", ["c", "s"], ["f"]), helper.make_node("Neg", ["f"], ["y"])]
    np.testing.assert_array_equal(stored(TensorProto.INT4, [7, -8], *nodes), np.array([-3.5, 4], np.float32))


@pytest.mark.parametrize(
    ("kind", "numbers", "name"),
    [
        (TensorProto.BFLOAT16, [1.5, -2.5], "bfloat16"),
        (TensorProto.UINT64, [2**63 + 1, 5], "uint64"),
        (TensorProto.STRING, ["a", "b"], "string"),
        (TensorProto.COMPLEX64, [1j, 2], "complex64"),
    ],
)
def test_elements_of_a_type_that_no_machine_has_are_no_integers(kind: int, numbers: list[Any], name: str) -> None:
    """They were taken for integers of 64 bits once, and 1.5 was 1."""
    # A cast reads what a float or an i64 can hold; a copy reads none of them.
    first = "Identity" if kind != TensorProto.UINT64 else "Cast"
    to: dict[str, Any] = {"to": TensorProto.FLOAT} if first == "Cast" else {}
    nodes = [helper.make_node(first, ["c"], ["f"], **to), helper.make_node("Shape", ["f"], ["n"])]
    nodes.append(helper.make_node("ConstantOfShape", ["n"], ["y"]))
    with pytest.raises(PolyloomError, match=f"PL0185.*`c` has elements of the type {name}, which no machine has"):
        stored(kind, numbers, *nodes)
