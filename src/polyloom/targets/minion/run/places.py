# SPDX-License-Identifier: Apache-2.0
"""Reader of places in `--in` and `--out`: a symbol or an address, and of what is taken out the shape and the type.

`--out c=c.npy:16x16:f32` takes 256 floats from the symbol `c`; what other images write, `--out c:f32[16][16]=c.npy`, is
read as well. A file that does not end in .npy holds bytes: `--out 0x8000100000=c.bin:1024` (docs/targets/minion.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

import numpy as np

from polyloom import files, npy
from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.riscv import foreign
from polyloom.targets.minion.machine import Machine
from polyloom.targets.minion.memory_map import find_gap
from polyloom.targets.target import Json

Array = np.ndarray[Any, np.dtype[Any]]
# The ending decides, as it does for the files of other targets.
_NPY: Final = ".npy"
_FILE: Final = re.compile(r"(?P<path>.+\.npy)(?::(?P<shape>[^:]*))?(?::(?P<type>[^:]*))?", re.DOTALL)
_BYTES: Final = re.compile(r"(?P<path>.+):(?P<shape>[0-9]{1,18})", re.DOTALL)
_SHAPE: Final = re.compile(r"[0-9]{1,18}(x[0-9]{1,18}){0,31}")
# Little-endian, as the machine stores them, whatever the host's order is.
TYPES: Final = {
    **{f"{kind}{8 * size}": f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)},
    **{f"f{8 * size}": f"<f{size}" for size in (2, 4, 8)},
    "bool": "?",
}
_LONG: Final = {np.dtype(code).name: name for name, code in TYPES.items()}
"""NumPy's own names, which are read as well."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Output that `--out` names: `path` is the file, the array has `shape` and `dtype`, and begins at `address`."""

    name: str
    path: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Size in bytes."""
        return prod(self.shape) * self.dtype.itemsize


def output_path(text: str) -> str:
    """File of what stands behind the `=` of `--out`."""
    found = _FILE.fullmatch(text) or _BYTES.fullmatch(text)
    return found["path"] if found is not None else text


def read_input(name: str, path: str, known: Mapping[str, tuple[int, int]], machine: Machine) -> tuple[int, bytes]:
    """Input: where it lies, and its bytes. Errors: PL0807, PL1304, PL1307, PL1308, and those of .npy files."""
    place = _resolve_place(name, known)
    if not path.endswith(_NPY):
        data = files.read(path)
    else:
        array = npy.read(path)
        _check_given(name, place, array)
        # A transposed array in a file has another order of bytes than the program expects.
        data = np.ascontiguousarray(array).tobytes()
    # A shorter array is allowed: programs often reserve more than a run uses.
    if place.size and len(data) > place.size:
        message = f"the input `{name}` has {len(data)} bytes, its symbol {place.size}"
        raise input_error("PL1308", message, help="give a smaller array")
    _check_memory(f"the input `{name}`", place.address, len(data), machine)
    return place.address, data


def parse_output(name: str, text: str, known: Mapping[str, tuple[int, int]], machine: Machine) -> Taken:
    """Output: address, shape and type. Errors: PL1304, PL1307, PL1308."""
    place = _resolve_place(name, known)
    path = output_path(text)
    if found := _FILE.fullmatch(text):
        place = _merge_place(place, name, text, found["shape"], found["type"])
    elif found := _BYTES.fullmatch(text):
        place = _merge_place(place, name, text, found["shape"], None)
    # Without a type the bytes of the symbol are written as they are.
    dtype = place.dtype or np.dtype(np.uint8)
    result = Taken(name, path, place.address, _shape(name, place, dtype), dtype)
    if place.size and result.size > place.size:
        message = f"the output `{name}` takes {result.size} bytes, its symbol has {place.size}"
        raise input_error("PL1308", message, help="write a smaller shape or type")
    _check_memory(f"the output `{name}`", result.address, result.size, machine)
    return result


def encode_output(place: Taken, data: bytes) -> bytes:
    """Bytes that are written into the file."""
    return npy.encode(to_array(place, data)) if place.path.endswith(_NPY) else data


def to_array(place: Taken, data: bytes) -> Array:
    """Array of the bytes at an output's place."""
    return np.frombuffer(data, place.dtype).reshape(place.shape)


def describe_output(place: Taken) -> dict[str, Json]:
    """JSON of an output: type and shape."""
    return {"dtype": str(place.dtype), "shape": list(place.shape)}


def _resolve_place(name: str, known: Mapping[str, tuple[int, int]]) -> foreign.Place:
    """Place by symbol or address. Errors: PL1307."""
    try:
        return foreign.resolve_place(name, known)
    except PolyloomError as error:
        # The reader is RISC-V's; its code would explain options that this target does not have.
        raise PolyloomError(*(replace(d, code="PL1307") for d in error.diagnostics)) from None


def _merge_place(place: foreign.Place, name: str, text: str, shape: str | None, kind: str | None) -> foreign.Place:
    """Place with shape and type that stand behind the file's name, where the place itself has none. Errors: PL1307."""
    for written, known, what in ((shape, place.shape, "shape"), (kind, place.dtype, "type")):
        if written is not None and known is not None:
            raise input_error("PL1307", f"the {what} of the output `{name}` is given twice", help="write it once")
    if shape is not None and _SHAPE.fullmatch(shape) is None:
        help = "write extents with x between them, such as c.npy:16x16:f32"
        raise input_error("PL1307", f"'{text}' has the shape '{shape}'", help=help)
    extents = place.shape if shape is None else tuple(map(int, shape.split("x")))
    return replace(place, shape=extents, dtype=place.dtype if kind is None else _dtype(text, kind))


def _dtype(text: str, kind: str) -> np.dtype[Any]:
    name = _LONG.get(kind, kind)
    if name not in TYPES:
        raise input_error("PL1307", f"'{text}' has the type '{kind}'", help=nearest(kind, TYPES, "type"))
    return np.dtype(TYPES[name])


def _shape(name: str, place: foreign.Place, dtype: np.dtype[Any]) -> tuple[int, ...]:
    """Shape of an output: the given one, else as many elements as the symbol has room for. Errors: PL1307."""
    if place.shape is not None:
        return place.shape
    if not place.size:
        message = f"nothing says how large the output `{name}` is"
        raise input_error("PL1307", message, help="write shape and type, such as c.npy:16x16:f32")
    # A symbol's size and a type are a vector; rows and columns nobody knows.
    return (place.size // dtype.itemsize,)


def _check_given(name: str, place: foreign.Place, array: Array) -> None:
    """Errors: PL1308 where an input contradicts the type or shape that is written with its place."""
    if place.dtype is not None and array.dtype != place.dtype:
        message = f"the input `{name}` has the type {array.dtype}, not {place.dtype}"
        raise input_error("PL1308", message, help=f"convert it: `.astype(numpy.{place.dtype.name})`")
    if place.shape is not None and array.shape != place.shape:
        message = f"the input `{name}` has the shape {array.shape}, not {place.shape}"
        raise input_error("PL1308", message, help="give extents that are those of the array")


def _check_memory(what: str, address: int, size: int, machine: Machine) -> None:
    lack = find_gap(machine, address, size)
    if lack is not None:
        message = f"{what} has {size} bytes at {address:#x}, and {lack.address:#x} is {lack.what}"
        raise input_error("PL1304", message, help="name an address in DRAM or a scratchpad")
