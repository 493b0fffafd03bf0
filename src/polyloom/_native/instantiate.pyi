# SPDX-License-Identifier: Apache-2.0
"""Instantiation (native/instantiate/bind.cpp, and bind_bench.cpp for what is measured)."""

from collections.abc import Sequence

class Instantiation:
    """What native/instantiate made: polyloom_result of polyloom_instantiate.h, where the fields are explained, and the
    file.

    `status` is 0, or the number of a diagnostic (510 is PL0510), then `file` is empty; 1 to 3 say that scratch or
    output would exceed 2 GiB, or that a number does not fit. `scratch`: bytes that were used. `asked`: the tile sizes
    of the request."""

    status: int
    position: int
    file: bytes
    scratch: int
    kind: int
    index: int
    side: int
    place: int
    needed: int
    available: int
    candidate: int
    region: tuple[int, int]
    asked: Sequence[int]

    def sizes(self, dimensions: int) -> tuple[int, ...]:
        """Of the tiles that are refused or were taken, by dimension; in PL0506 the least ones."""

def instantiate(
    symbolic: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
    layouts: Sequence[tuple[Sequence[int], int, int]] | None = None,
    threads: int = 0,
    closed: int = 0,
) -> Instantiation:
    """A concrete file from a symbolic one, values in the order of its parameters, and a region (native/instantiate).

    `candidate`: the only one that is tried. `sizes`: of the tiles, by dimension. `layouts`: by array (strides, base,
    bank), without strides row-major. `closed`: borders of the region
    without banks, 1 north, 2 east, 4 south, 8 west.

    Classes are instantiated by so many threads, each in scratch of its own; 0: one
    after another."""

def query(
    symbolic: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidate: int | None = None,
    sizes: Sequence[int] | None = None,
    layouts: Sequence[tuple[Sequence[int], int, int]] | None = None,
) -> tuple[int, int, int, int]:
    """(status, bytes of output, bytes of scratch, bytes of scratch of one class's own) that such a request needs."""

Bank = tuple[int, int, int]
"""Side (0 north to 3 west, 4 outside of the array), row or column, channel."""

class Walked:
    """What the calls of polyloom_plan.h told, each with the number of steps before it: `steps` (phase, counters, words,
    words that move, their cycles), `transfers` (step, array, element, from, to), `scalars` (step, array, value)."""

    status: int
    position: int
    phase: int
    cycles: int
    output: int
    scratch: int
    steps: list[tuple[int, tuple[int, ...], bytes, int, int]]
    transfers: list[tuple[int, int, int, Bank, Bank]]
    scalars: list[tuple[int, int, int]]

def walk(
    symbolic: bytes,
    values: Sequence[int],
    rows: int,
    columns: int,
    candidates: Sequence[int] | None = None,
    closed: int = 0,
    layouts: Sequence[tuple[Sequence[int], int, int]] | None = None,
) -> Walked:
    """Every step of a file of any kind, in buffers of just the size that the query asks for. `candidates`: by
    phase; 2**32 - 1 takes the best. `layouts`: by array, as (strides, base, bank)."""

def seconds(
    symbolic: bytes, values: Sequence[int], rows: int, columns: int, candidate: int, times: int, whole: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float, float, float]], int]:
    """CPU seconds of warm instantiations, and bytes of the file: `times` runs of (concretization through
    functional-unit programs, all but emission), then `whole` runs of (all but emission, emission, a checksum of its
    bytes alone, a memcpy of its bytes), each for three seconds at most. Nothing is written where `whole` is 0. Raises
    RuntimeError for a request that is refused."""

def fletcher64(data: bytes) -> int:
    """The checksum of files, of the library (native/instantiate/read.c). Raises ValueError where words of 32 bits do
    not fill the bytes."""

def pack(magic: bytes, version: int, stamp: int, sections: Sequence[bytes]) -> bytes:
    """A file of `polyloom.binary`: header, table of sections, the sections, with both checksums. Raises ValueError
    where it is no file: `magic` has not four bytes, or the file 4 GiB."""

def status_message(status: int) -> str:
    """What a status means."""
