# SPDX-License-Identifier: Apache-2.0
"""Large initializers: read from the file into their arrays, once; and refused where a memory does not hold them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tests.conftest import Golden
from tests.frontend.onnx.models import model, value

import polyloom as pl
from polyloom import memory
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.onnx import large_tensors, load_model
from polyloom.frontend.onnx.child import prepare
from polyloom.frontend.onnx.read_file import initializers, read_model
from polyloom.frontend.source import Options

LARGE = large_tensors.LARGE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def product(rows: int, kind: type[np.generic] = np.float32) -> onnx.ModelProto:
    """`y = x w`, of which `w` has a row per element of x."""
    w = (np.arange(rows * 16) % 1000).reshape(rows, 16).astype(kind)
    element = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    return model([node], [value("x", [1, rows], element)], [value("y", [1, 16], element)], {"w": w})


def write(of: onnx.ModelProto) -> bytes:
    content = of.SerializeToString()
    Path("m.onnx").write_bytes(content)
    return content


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, np.int32])
def test_elements_stay_out_of_the_protocol_buffer(kind: type[np.generic]) -> None:
    of = product(LARGE // 8, kind)
    write(of)
    found = large_tensors.read_light_model("m.onnx")
    assert found is not None
    assert len(found.content) < 500
    np.testing.assert_array_equal(found.elements[0], numpy_helper.to_array(of.graph.initializer[0]).reshape(-1))
    # But for the elements, the model is what it was.
    of.graph.initializer[0].ClearField("raw_data")
    assert onnx.load_model_from_string(found.content) == of


def test_a_model_of_large_initializers_is_what_the_package_reads() -> None:
    write(product(LARGE // 8))
    x = np.ones((1, LARGE // 8), np.float32)
    found = load_model("m.onnx", Options(), prepare)
    w = numpy_helper.to_array(onnx.load_model_from_string(Path("m.onnx").read_bytes()).graph.initializer[0])
    np.testing.assert_array_equal(found.data["w"], w)
    assert found(x=x)["y"].shape == (1, 16)


def test_cut_files_are_no_models() -> None:
    content = write(product(LARGE // 8))
    for end in (1, 20, 70, len(content) // 2, len(content) - 1):
        Path("m.onnx").write_bytes(content[:end])
        with pytest.raises(PolyloomError, match="PL0181"):
            load_model("m.onnx", Options(), prepare)


def test_elements_of_another_number_than_the_shape_says_are_refused() -> None:
    of = product(LARGE // 8)
    of.graph.initializer[0].dims[1] = 17
    write(of)
    with pytest.raises(PolyloomError, match=r"PL0181.*other elements"):
        load_model("m.onnx", Options(), prepare)


@pytest.mark.parametrize("on", ["riscv", "tcpa", "belt", "minion:32", "tensix"])
def test_weights_that_exceed_the_memory_are_refused_with_both_figures(
    on: str, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    write(product(64))
    compiled = pl.compile("m.onnx", on=on)
    monkeypatch.setattr(memory, "available_bytes", lambda: 8000)
    with pytest.raises(PolyloomError) as caught:
        compiled.run(x=np.ones((1, 64), np.float32))
    assert caught.value.code == "PL0605"
    golden("weights beyond the memory", str(caught.value))


_MEASURE = """
import resource
import polyloom as pl
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = pl.model("m.onnx")
assert model.nest.body
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.long
def test_a_model_takes_little_more_than_its_weights() -> None:
    """200 MiB of weights: 1.3 times as much with the package and its modules, of about 60 MiB."""
    size = len(write(product(200 * LARGE // 4)))
    done = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1.3 * size


def varint(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    found = b""
    while number >= 0x80:
        found, number = found + bytes([number & 0x7F | 0x80]), number >> 7
    return found + bytes([number])


def length_field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def with_initializer(*fields: bytes) -> None:
    """A file whose graph has a further initializer `v` of these fields, in a second field that decoders merge."""
    tensor = b"".join((length_field(8, b"v"), *fields))
    Path("m.onnx").write_bytes(product(16).SerializeToString() + length_field(7, length_field(5, tensor)))


DIMS = varint(1 << 3) + varint(LARGE // 4)
RAW = length_field(9, np.arange(LARGE // 4, dtype=np.float32).tobytes())
FLOAT, INT32 = varint(2 << 3) + varint(1), varint(2 << 3) + varint(6)


@pytest.mark.parametrize(
    "fields",
    [
        (RAW, FLOAT, DIMS),
        (DIMS, INT32, FLOAT, RAW),
        (DIMS, FLOAT, RAW, RAW),
        (DIMS, varint(2 << 3 | 5), b"0000", FLOAT, RAW),
    ],
    ids=["another order", "the last type counts", "the last elements count", "a type that is none"],
)  # fmt: skip
def test_fields_are_read_as_the_package_reads_them(fields: tuple[bytes, ...]) -> None:
    with_initializer(*fields)
    found = initializers("m.onnx", read_model("m.onnx"), ())["v"]
    expected = numpy_helper.to_array(onnx.ModelProto.FromString(Path("m.onnx").read_bytes()).graph.initializer[1])
    assert found.dtype == expected.dtype and np.array_equal(found, expected)


def test_a_tag_that_is_too_long_is_refused_as_by_the_package() -> None:
    with_initializer(DIMS, FLOAT, b"\xca\x80\x80\x80\x80\x00" + RAW[1:])
    with pytest.raises(PolyloomError) as caught:
        read_model("m.onnx")
    assert caught.value.code == "PL0181"


def test_elements_in_fields_of_their_own_are_the_packages_to_read() -> None:
    """Two bytes for each element: a list of such fields would take a hundred times as much."""
    with_initializer(DIMS, INT32, (varint(5 << 3) + b"\1") * LARGE)
    assert large_tensors.read_light_model("m.onnx") is None


@pytest.mark.parametrize(("offset", "kind", "code"), [("9" * 5000, 1, "PL0187"), ("0", 99, "PL0181")])
def test_data_beside_the_model_that_cannot_be_are_refused(offset: str, kind: int, code: str) -> None:
    of = product(16)
    tensor = of.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_type, tensor.data_location = kind, onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="w.bin")
    tensor.external_data.add(key="offset", value=offset)
    write(of)
    Path("w.bin").write_bytes(bytes(4096))
    with pytest.raises(PolyloomError) as caught:
        initializers("m.onnx", read_model("m.onnx"), ["w.bin"])
    assert caught.value.code == code
