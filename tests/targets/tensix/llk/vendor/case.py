# SPDX-License-Identifier: Apache-2.0
"""A case of the table: a public test source with parameters, operands, and what NumPy makes of them.

A golden is written from the operation's mathematics, over the operands as their format holds them; it knows nothing of
the kernels. `near` is the error that the format of the result and of its partial sums allows, in units of the largest
result; 0 asks for equal numbers, as all copies and integers must be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tensix.llk.run import LlkRun
from polyloom.targets.tensix.options import Hazards
from polyloom.targets.tensix.words.isa import Member

Array = NDArray[Any]
Golden = Callable[[Array, Array, Array], Array]
Places = tuple[int, int, int, int]
PLACES: Final[Places] = (0x30000, 0x60000, 0x90000, 0xC0000)
"""Where three operands and the result lie."""
_RING: Final = 16 * 4096
PERF: Final[Places] = (0x21000, 0x21000 + _RING, 0x21000 + 2 * _RING, 0x21000 + 3 * _RING)
"""Where they lie in tests that measure, which have a tile in each 4,096 bytes."""
TILES: Final = 8
FULL: Final = {"MATH_FIDELITY": "ckernel::MathFidelity::HiFi4"}
ROUNDED: Final = 2.0**-8
"""Error of a result that is rounded to BF16 once: a unit in its last place."""
SUMS: Final = 0.01
"""Error of sums, and of products in phases, that are rounded to BF16 with what was before them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A source, parameters that differ from the defaults, and the golden of (A, B, C), each (8, 32, 32).

    `operand` makes each operand from random numbers of -2 to 2; `form` and `result` are the formats of operands and
    result in L1, `shown` is what is compared with the golden: the first tiles of the result, where none is given.
    `member` is the only one whose configuration, or counts of loops, the golden knows.
    """

    source: str
    golden: Golden | None
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    near: float = 0.0
    ones: bool = False
    places: Places = PLACES
    form: str = "bf16"
    result: str = "bf16"
    operand: Callable[[Array], Array] | None = None
    shown: Callable[[LlkRun], Array] | None = None
    defines: tuple[str, ...] = ()
    cycles: int = 100_000
    hazards: Hazards = "error"
    member: Member | None = None


def relative_error(got: Array, expected: Array) -> float:
    """Greatest difference in units of the largest finite number that is expected; infinite where only one of two
    numbers is not finite, or they are not alike."""
    with np.errstate(invalid="ignore"):
        differs = ~((got == expected) | (np.isnan(got) & np.isnan(expected)))
        if not differs.any():
            return 0.0
        error = float(np.abs(got[differs].astype(np.float64) - expected[differs].astype(np.float64)).max())
    largest = float(np.abs(expected[np.isfinite(expected)]).max())
    return error / largest if np.isfinite(error) and largest else float("inf")


def first_tile(operation: Golden) -> Golden:
    """Golden of the first tiles of operands."""
    return lambda a, b, c: operation(a[:1], b[:1], c[:1])


def result_words(count: int, start: int = 0) -> Callable[[LlkRun], Array]:
    """Words of the result in the order of memory: cores write them there."""
    return lambda run: memory_of(run.outputs["R"]).reshape(-1)[start : start + count]


def config_fields(*fields: tuple[int, int, int]) -> Callable[[LlkRun], Array]:
    """Fields of the configuration after the run, in the bank of state 0: word, lowest bit and width of each."""
    return lambda run: np.array(
        [int(run.tile.config[0, word]) >> low & ((1 << width) - 1) for word, low, width in fields], np.int64
    )


def row_major(tiles: Array) -> Array:
    """Untilized: the datums of a tile row after row, as they lie in memory, seen as tiles of faces."""
    return faces_from_memory(tiles.reshape(len(tiles), -1))


_SIDE, _FACE = 32, 16


def faces_from_memory(memory: Array) -> Array:
    """Tiles whose four faces follow one another in memory."""
    faces = memory.reshape(-1, 2, 2, _FACE, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(-1, _SIDE, _SIDE)


def memory_of(tiles: Array) -> Array:
    """Datums of tiles as they lie in memory, face after face."""
    faces = tiles.reshape(-1, 2, _FACE, 2, _FACE).transpose(0, 1, 3, 2, 4)
    return np.ascontiguousarray(faces).reshape(len(tiles), -1)


def from_row_major(tiles: Array, across: int = 1) -> Array:
    """Tilized: memory that holds rows of `across` times 32, as tiles."""
    rows = memory_of(tiles).reshape(-1, _SIDE, across, _SIDE)
    return np.ascontiguousarray(rows.transpose(0, 2, 1, 3)).reshape(-1, _SIDE, _SIDE)


def reduced(tiles: Array, how: Callable[..., Array], *axes: int) -> Array:
    """Reduction along axes, whose results stand in the first row, column or datum; the rest is 0."""
    found = np.zeros_like(tiles)
    values = how(tiles, axis=axes, keepdims=True)
    found[:, : values.shape[1], : values.shape[2]] = values
    return found
