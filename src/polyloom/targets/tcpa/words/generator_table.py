# SPDX-License-Identifier: Apache-2.0
"""Address generators as a NumPy table: concrete configurations read without an object per generator, of which a large
region has millions.

Everything else is decoded as `concrete_file.decode` does it, and checked as strictly: the generators' section has rows
of one size, so that NumPy compares their fields with their limits, and the file is canonical exactly if it is what the
decoded parts and the bytes of that section make.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom import binary
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import Concrete, Domain, Generator
from polyloom.targets.tcpa.words.sides import SIDES

Table = NDArray[Any]
"""One row per generator: the fields of `Generator` as the file has them, `domain` a place among `Outline.domains`,
`side` one in `SIDES`."""


@dataclass(frozen=True, slots=True)
class Outline:
    """`concrete` has no generators: they are rows of `table`."""

    concrete: Concrete
    table: Table
    domains: tuple[Domain, ...]

    @property
    def whole(self) -> Concrete:
        """What `concrete_file.decode` makes."""
        return self.with_generators(range(len(self.table)))

    def with_generators(self, rows: Iterable[int]) -> Concrete:
        """The configuration with these of its generators."""
        return replace(self.concrete, generators=tuple(self._generator(row) for row in rows))

    def _generator(self, row: int) -> Generator:
        def field(name: str) -> int:
            return int(self.table[name][row])

        return Generator(
            side=SIDES[field("side")],
            register=field("register"),
            position=field("position"),
            channel=field("channel"),
            links=field("links"),
            array=field("array"),
            base=field("base"),
            coefficients=tuple(self.table["coefficients"][row].tolist()),
            delay=field("delay"),
            domain=self.domains[field("domain")],
        )


@binary.cache_decoder
def decode_outline(data: bytes) -> Outline:
    """Outline of a file: what `concrete_file.decode` makes, in a fraction of its time. Errors: PL0701 to PL0705."""
    return _remembered_outline(data)


def _outline(data: bytes) -> Outline:
    concrete, domains, reader = concrete_file.decode_without_generators(data)
    start, kind = reader.position, _row(len(concrete.extents))
    count = concrete_file.u32("the number of generators").read(reader)
    if count * kind.itemsize == reader.end - reader.position:
        table = np.frombuffer(data, kind, count, reader.position)
        if _has_valid_fields(table, concrete, domains) and _is_canonical(
            concrete, domains, table, data[start : reader.end], data
        ):
            return Outline(concrete, table, tuple(domains))
    # The slow reader knows where the fault is, and raises its located error.
    concrete_file.decode(data)
    raise binary.format_error(start, "the generators are not written in the one way that the format allows")


_remembered_outline = binary.cache_decoder(_outline, 8, 1 << 18)
"""What is told of a run asks for the same file several times."""


def _row(dimensions: int) -> np.dtype[np.void]:
    """A generator's row: the fields in the order, and of the sizes, in which `concrete_file` writes them."""
    short = ((name, "<u2") for name in ("side", "register", "position", "channel", "links", "array"))
    return np.dtype(
        [*short, ("base", "<i4"), ("coefficients", "<i4", (dimensions,)), ("delay", "<u4"), ("domain", "<u4")]
    )


def _has_valid_fields(table: Table, concrete: Concrete, domains: Sequence[Domain]) -> bool:
    longest = max(concrete.rows, concrete.columns)
    limits = {
        "side": len(SIDES),
        "position": longest,
        "links": longest,
        "array": len(concrete.arrays),
        "domain": len(domains),
    }
    return not len(table) or all(int(table[name].max()) < limit for name, limit in limits.items())


def _is_canonical(concrete: Concrete, domains: Sequence[Domain], table: Table, generators: bytes, data: bytes) -> bool:
    """Canonical form: whether the rows count their domains in the order of their first use, and all else is written as
    it must be.
    """
    first = np.sort(np.unique(table["domain"], return_index=True)[1])
    used = [domains[int(n)] for n in table["domain"][first]]
    return concrete_file.pack_generators(concrete, used, generators) == data
