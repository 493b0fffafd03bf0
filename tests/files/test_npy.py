# SPDX-License-Identifier: Apache-2.0
"""NumPy's files: whatever numpy.save writes of numbers is read, and every other file is refused with what is wrong in
it."""

from __future__ import annotations

import io
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden

from polyloom import npy
from polyloom.diagnostics import PolyloomError

HEAD = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"
BODY = np.arange(3, dtype=np.int32).tobytes()
KINDS = (
    "b1",
    "i1",
    "u1",
    "<i2",
    ">i2",
    "<i4",
    ">i4",
    "<u4",
    "<i8",
    ">u8",
    "<f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<c8",
    "<c16",
)


def file(header: str | bytes = HEAD, body: bytes = BODY, version: int = 1, length: int | None = None) -> bytes:
    """A file with this header, whatever it says."""
    text = header.encode("latin-1") if isinstance(header, str) else header
    size = (len(text) if length is None else length).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + body


def saved(array: object) -> bytes:
    """What NumPy writes, pickled objects too."""
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(array), allow_pickle=True)
    return buffer.getvalue()


def archive() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.zeros(3))
    return buffer.getvalue()


def shaped(shape: str) -> bytes:
    return file(HEAD.replace("(3,)", shape))


FAULTS = {
    "empty": b"",
    "text": b"1 2 3\n",
    "magic alone": b"\x93NUMPY",
    "no header": b"\x93NUMPY\x01\x00",
    "archive": archive(),
    "version": file(version=9),
    "header cut off": file()[:20],
    "header too long": file(length=60000),
    "header of gigabytes": file(version=2, length=1 << 31),
    "header no dictionary": file("3 elements of i4"),
    "header no UTF-8": file(b"{'descr': '\xff'}", version=3),
    "header evaluated": file("{'descr': '<i4', 'fortran_order': False, 'shape': __import__('os').getcwd(), }"),
    "header nested": file("(" * 9000),
    "key twice": file("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (3,), }"),
    "key missing": file("{'descr': '<i4', 'shape': (3,), }"),
    "key unknown": file("{'descr': '<i4', 'fortran_order': False, 'order': 'C', 'shape': (3,), }"),
    "order a number": file("{'descr': '<i4', 'fortran_order': 1, 'shape': (3,), }"),
    "after the header": file(HEAD + " and more"),
    "objects": saved(np.array([None, 1], object)),
    "records of objects": saved(np.zeros(2, [("a", "<i4"), ("b", "O")])),
    "records of strings": saved(np.zeros(2, [("a", "<i4"), ("b", "U3")])),
    "records of nothing": file(
        "{'descr': [('a', '<i4', (0,))], 'fortran_order': False, 'shape': (1000000000000,), }", b""
    ),
    "records without a field": file("{'descr': [], 'fortran_order': False, 'shape': (3,), }"),
    "records of gigabytes": file(
        "{'descr': [('a', '<i4', (1000000000000,))], 'fortran_order': False, 'shape': (3,), }"
    ),
    "records nested": file(
        "{'descr': " + "[('a', " * 1000 + "'<i4'" + ")]" * 1000 + ", 'fortran_order': False, 'shape': (3,), }"
    ),
    "strings": saved(np.array(["a", "bc"])),
    "dates": saved(np.array(["2020-01-01"], "M8[D]")),
    "type unknown": file(HEAD.replace("<i4", "<q9")),
    "type huge": file(HEAD.replace("<i4", "V99999999999999")),
    "extent negative": shaped("(-3,)"),
    "extent a float": shaped("(3.0,)"),
    "ten to the twelve": shaped("(1000000000000,)"),
    "more than addresses": shaped("(4294967296, 4294967296, 4294967296)"),
    "thousands of digits": shaped(f"({'9' * 5000},)"),
    "empty but huge": shaped("(0, 9223372036854775807, 9223372036854775807)"),
    "sixty dimensions": shaped(f"({'1, ' * 60})"),
    "truncated": file(body=BODY[:-1]),
    "trailing": file(body=BODY + b"\0"),
    "two arrays": file() + file(),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_refused_with_its_reason(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        npy.parse(FAULTS[name], "x.npy")
    assert (error.value.code, error.value.exit_code) == ("PL0807", 1)
    golden(f"npy_{name.replace(' ', '_')}", str(error.value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (2, 3, 4), (0, 5), (1,) * 32], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_are_read(kind: str, shape: tuple[int, ...], order: Any) -> None:
    """Of every type, shape, order of elements and order of bytes."""
    array = np.asarray(np.random.default_rng(1).integers(0, 100, shape).astype(kind), order=order)
    check(npy.parse(saved(array), "x.npy"), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(version: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.arange(6, dtype=np.float32).reshape(2, 3), version)
    check(npy.parse(buffer.getvalue(), "x.npy"), np.arange(6, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize(
    "header",
    [
        '{"shape": (3,), "descr": "<i4", "fortran_order": False}',
        "{'descr': '<i4', 'fortran_order': False, 'shape': (3L,), }          \n",
        "  {'descr':'<i4','fortran_order':True,'shape':(3,)}",
    ],
)
def test_headers_of_other_writers(header: str) -> None:
    check(npy.parse(file(header), "x.npy"), np.arange(3, dtype=np.int32))


@pytest.mark.parametrize(
    "kind",
    [
        np.dtype([("a", "<i4"), ("b", "<f8")]),
        np.dtype([("a", "i1"), ("b", "<f8"), ("c", "<i2", (2, 3))], align=True),
        np.dtype([("p", [("x", "<f4"), ("y", "<f4")]), ("n", ">i4")]),
    ],
    ids=str,
)
def test_structs_are_read(kind: np.dtype[Any]) -> None:
    """C functions take arrays of them."""
    array = np.frombuffer(bytes(range(kind.itemsize * 3)), kind)
    check(npy.parse(saved(array), "x.npy"), array)


def test_what_is_written_is_what_numpy_reads() -> None:
    array = np.arange(6, dtype=np.int16).reshape(3, 2)
    check(np.load(io.BytesIO(npy.encode(array))), array)
    check(npy.parse(npy.encode(array), "x.npy"), array)


def check(found: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> None:
    """Equal, in this machine's byte order, contiguous and writable."""
    np.testing.assert_array_equal(found, wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype.newbyteorder("="))
    assert found.flags.c_contiguous
    assert found.flags.writeable


@given(st.binary(max_size=200), st.integers(0, 12), st.integers(0, 3))
def test_no_bytes_raise_anything_else(tail: bytes, kept: int, version: int) -> None:
    attempt(file(version=version)[:kept] + tail)


@given(st.integers(0, 2**32 - 1))
def test_a_changed_file_is_refused_or_read_as_numpy_reads_it(seed: int) -> None:
    """NumPy ignores what follows an array, and accepts types and headers that are refused here; what is read is the
    same."""
    random = Random(seed)
    data = bytearray(
        saved(np.arange(12).astype(random.choice(KINDS)).reshape(random.choice([(12,), (3, 4), (2, 6, 1)])))
    )
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(len(data))
        data[at : at + random.choice((0, 1, 1))] = bytes(
            random.choice((b"", b"0", b"9", b"(", b",", b"-", b"L", bytes([random.randrange(256)])))
        )
    found = attempt(bytes(data))
    if found is not None:
        np.testing.assert_array_equal(found, np.load(io.BytesIO(bytes(data))))


def attempt(data: bytes) -> npt.NDArray[Any] | None:
    try:
        return npy.parse(data, "x.npy")
    except PolyloomError as error:
        assert (error.code, error.exit_code) == ("PL0807", 1)
        return None
