# SPDX-License-Identifier: Apache-2.0
"""Execution of other tools' programs: they start at their entry and end with the call `exit`; arrays are put to and
taken from places in memory.

A place is `NAME[:TYPE][[EXTENTS]]`: a symbol or an address, the type of the elements, the extents. An input's size is
known; an output needs a type (bytes without one), and extents where no symbol tells a size.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.frontend.source import Arrays
from polyloom.riscv import symbols
from polyloom.riscv.image import Image, elf_image
from polyloom.riscv.model import Machine
from polyloom.riscv.names import Isa
from polyloom.riscv.timing.core import Core, CycleCounts

_PLACE: Final = re.compile(r"(?P<name>[^:\[\]]+)(?::(?P<type>[a-z]+[0-9]*))?(?P<extents>(?:\[[0-9]{1,18}\])*)")
_TYPES: Final = {f"{kind}{8 * size}": f"<{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)} | {
    "f32": "<f4",
    "f64": "<f8",
    "bool": "?",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Place in memory. `size` is a symbol's number of bytes, or 0; `dtype` and `shape` are None where they are not
    written.
    """

    address: int
    size: int
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run: outputs, exit code, executed instructions, standard output, the addresses of the first
    instructions, and what a hart that counts has counted.
    """

    outputs: dict[str, np.ndarray[Any, Any]]
    exit_code: int
    instructions: int
    output: bytes
    executed: NDArray[np.uint64]
    counts: CycleCounts | None = None


def resolve_place(text: str, known: Mapping[str, tuple[int, int]]) -> Place:
    """Place that a text names. Errors: PL0811."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise _place_error(
            f"'{text}' names no place", "write a symbol or an address, as in `result:i32[16]` or `0x8000:f32[4][4]`"
        )
    if found["type"] is not None and found["type"] not in _TYPES:
        raise _place_error(f"'{text}' has the type `{found['type']}`", nearest(found["type"], _TYPES, "type"))
    address, size = _symbol_address(found["name"], known)
    dtype = None if found["type"] is None else np.dtype(_TYPES[found["type"]])
    extents = tuple(int(n) for n in re.findall(r"[0-9]+", found["extents"]))
    return Place(address, size, dtype, extents or None)


def _symbol_address(name: str, known: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    if name in known:
        return known[name]
    try:
        return int(name, 0), 0
    except ValueError:
        raise _place_error(f"the program has no symbol '{name}'", nearest(name, known, "symbol")) from None


def _place_error(message: str, help: str) -> PolyloomError:
    return input_error("PL0811", message, help=help)


def run_program(
    data: bytes,
    isa: Isa,
    inputs: Arrays,
    wanted: Sequence[str],
    limit: int,
    watch: Callable[[int], None] | None = None,
    record: int = 0,
    core: Core | None = None,
) -> Outcome:
    """Run of an ELF file of any tool on `inputs`; `wanted` are the places of outputs. Errors: PL0232 for inputs, PL0811
    for places, PL0910 to PL0915.
    """
    image: Image = elf_image(data, isa)
    known = symbols.symbol_extents(data)
    machine = Machine(image, core=core)
    for name, array in inputs.items():
        place = resolve_place(name, known)
        _check_input(name, place, array)
        machine.write(place.address, np.ascontiguousarray(array).tobytes())
    # Before the run: a mistake in a place is found before the time is spent.
    taken = {name: _output_extent(name, resolve_place(name, known)) for name in wanted}
    done = machine.run(limit=limit, watch=watch, record=record)
    outputs = {name: _read_array(machine, address, dtype, shape) for name, (address, dtype, shape) in taken.items()}
    return Outcome(outputs, done.exit_code or 0, done.instructions, machine.output, done.executed, machine.counts)


def _check_input(name: str, place: Place, array: np.ndarray[Any, Any]) -> None:
    if place.dtype is not None and array.dtype != place.dtype:
        message = f"the input `{name}` has the type {array.dtype}, not {place.dtype}"
        raise input_error("PL0232", message, help=f"convert it: `.astype(numpy.{place.dtype.name})`")
    if place.shape is not None and array.shape != place.shape:
        message = f"the input `{name}` has the shape {array.shape}, not {place.shape}"
        raise input_error("PL0232", message, help="give extents that are those of the array")
    if place.size and array.nbytes > place.size:
        message = f"the input `{name}` has {array.nbytes} bytes, its symbol {place.size}"
        raise input_error("PL0232", message, help="give a smaller array")


def _output_extent(name: str, place: Place) -> tuple[int, np.dtype[Any], tuple[int, ...]]:
    dtype = place.dtype or np.dtype(np.uint8)
    if place.shape is not None:
        return place.address, dtype, place.shape
    if not place.size:
        raise _place_error(f"how large '{name}' is, nothing says", f"write its extents, as in `{name}:i32[16]`")
    return place.address, dtype, (place.size // dtype.itemsize,)


def _read_array(machine: Machine, address: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    data = machine.read(address, prod(shape) * dtype.itemsize)
    # A copy: the buffer is read-only, and the caller may change its result.
    return np.frombuffer(data, dtype).reshape(shape).copy()
