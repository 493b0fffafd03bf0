# SPDX-License-Identifier: Apache-2.0
"""Files from strangers: whatever their note says, they are no files of ours, or they end with a located error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden

import polyloom as pl
from polyloom.api import decode
from polyloom.diagnostics import PolyloomError
from polyloom.riscv import source_lines, symbols
from polyloom.targets.tensix.words.arrays import note

EXAMPLES = Path(__file__).parents[4] / "examples"
PRODUCT = pl.compile(EXAMPLES / "matmul.pla", on="tensix").prepare_instance({"N": 3, "M": 5, "K": 40}).data
AXPY = pl.compile(EXAMPLES / "axpy.pla", on="tensix").prepare_instance({"N": 40}).data
GEMM = pl.compile(EXAMPLES / "kernels" / "gemm.py", on="tensix").prepare_instance({"NI": 3, "NJ": 5, "NK": 40}).data
FILES = {"product": PRODUCT, "axpy": AXPY, "gemm": GEMM}
KEYS = [
    "scalars",
    "sums",
    "format",
    "dest",
    "fidelity",
    "arguments",
    "sizes",
    "areas",
    "results",
    "stages",
    "meeting",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.integers(2**31 - 2, 2**70) | st.sampled_from(["A", "z", "<f4"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["name", "shape", "rows"]), inner),
    max_leaves=6,
)


def changed(data: bytes, change: dict[str, Any]) -> bytes:
    """The file with another note of the same length, filled with spaces; itself where that is too long."""
    text = symbols.read_note(data)
    assert text is not None
    made = json.dumps({**json.loads(text), **change}, separators=(",", ":")).encode()
    return data.replace(text, made.ljust(len(text))) if len(made) <= len(text) else data


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_our_own_notes_read_back(data: bytes) -> None:
    found = note.decode(changed(data, {}))
    assert found is not None
    lines = source_lines.decode_lines(data)
    places = dict(zip(lines.addresses, lines.places, strict=True))
    assert note.encode(found, places) == symbols.read_note(data)


@pytest.mark.parametrize("form", ["product", "elementwise", "stages"])
def test_programs_of_an_earlier_version(form: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        decode("file.elf", changed(AXPY, {"version": 1, "form": form, "areas": []}))
    assert error.value.code == "PL0703"
    golden("earlier-version", str(error.value))


@settings(max_examples=75)
@given(st.sampled_from(list(FILES)), st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1, max_size=2))
def test_other_notes(name: str, change: dict[str, Any]) -> None:
    try:
        instance = decode("file.elf", changed(FILES[name], change))
        assert isinstance(instance, pl.Instance)
        inputs = {a.name: np.zeros(a.extents({}), a.dtype) for a in instance.signature.inputs}
        instance.run(inputs)
    except PolyloomError as error:
        assert error.code != "PL0870"


def test_a_file_without_one_of_the_programs_is_none_of_ours() -> None:
    assert note.decode(PRODUCT.replace(b"\0t1\0", b"\0u1\0")) is None


@pytest.mark.parametrize(("name", "type"), [("a", "|i1"), ("a", "<u2"), ("x", "|u1"), ("z", "|i1")])
def test_arguments_of_narrow_integers_are_carried_as_floats(name: str, type: str) -> None:
    """A scalar, an array and a result that a note declares as narrow, of a program of floats: a scalar of one byte is
    a word in L1.
    """
    text = symbols.read_note(AXPY)
    assert text is not None
    arguments = [
        {**argument, "type": type if argument["name"] == name else argument["type"]}
        for argument in json.loads(text)["arguments"]
    ]
    instance = decode("file.elf", changed(AXPY, {"arguments": arguments}))
    assert isinstance(instance, pl.Instance)
    inputs = {a.name: np.full(a.extents({}), 3, a.dtype) for a in instance.signature.inputs}
    found = instance.run(inputs).outputs["z"]
    assert found.dtype == (np.dtype(type) if name == "z" else np.float32)
    np.testing.assert_array_equal(found, 12)
