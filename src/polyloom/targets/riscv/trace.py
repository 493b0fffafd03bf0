# SPDX-License-Identifier: Apache-2.0
"""Trace of a hart: each executed instruction is a span of one step on the lane of its class, in the group of its
function. No time is modelled, so that steps are counted instead of cycles: instruction number n is at n.

Of long runs the first `LONGEST` instructions are kept, and the trace says so. Classes say what an instruction does:
those of one class go to one unit of many cores.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from polyloom.riscv import source_lines, symbols
from polyloom.riscv.disassemble import instruction_text
from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.image import Image, elf_image
from polyloom.riscv.names import Isa
from polyloom.riscv.timing.instruction_class import CLASSES, instruction_class
from polyloom.targets.activity import Columns, Group
from polyloom.targets.trace import Deferred, Span, Trace

LONGEST: Final = 1 << 18


@dataclass(frozen=True, slots=True)
class _Place:
    """Executed instruction: its function, the class of it, its text and where it comes from."""

    function: str
    kind: str
    text: str
    arguments: tuple[tuple[str, str], ...]


def trace(data: bytes, isa: Isa, executed: NDArray[np.uint64], instructions: int) -> Trace:
    """Trace of an ELF file of which the addresses `executed` are known, in their order, of so many `instructions` in
    all.
    """
    if not len(executed):
        return Trace()
    # Each instruction is decoded once, however often it was executed.
    addresses, inverse = np.unique(executed, return_inverse=True)
    places = _executed_places(data, isa, [int(address) for address in addresses])
    functions = dict.fromkeys(place.function for place in places)
    groups = tuple(Group(name, _function_classes(name, places)) for name in functions)
    first, at = dict[tuple[str, str], int](), 0
    for group in groups:
        for lane in group.lanes:
            first[group.name, lane] = at
            at += 1
    lanes = np.array([first[place.function, place.kind] for place in places], np.int64)[inverse]
    columns = Columns(groups, lanes, np.arange(len(executed), dtype=np.int64))
    return Trace(
        # Most traces are drawn from columns; spans are made only for who asks for them.
        Deferred(lambda: _spans(places, inverse), len(executed)),
        columns=columns,
        notice=_notice(executed, instructions),
    )


def _notice(executed: NDArray[np.uint64], instructions: int) -> str:
    kept = len(executed)
    return "" if kept == instructions else f"the trace has the first {kept:,} of {instructions:,} instructions"


def _function_classes(function: str, places: Sequence[_Place]) -> tuple[str, ...]:
    """The classes that a function executes."""
    found = {place.kind for place in places if place.function == function}
    return tuple(kind for kind in CLASSES if kind in found)


def _spans(places: Sequence[_Place], numbers: Sequence[int] | NDArray[np.int64]) -> Iterator[Span]:
    for step, number in enumerate(numbers):
        place = places[number]
        yield Span(place.function, place.kind, place.text, step, 1, place.arguments)


def _executed_places(data: bytes, isa: Isa, addresses: Sequence[int]) -> list[_Place]:
    """Places of the instructions at these addresses, which rise."""
    image, lines, names = (
        elf_image(data, isa),
        source_lines.decode_lines(data),
        _distinct_functions(symbols.read_tables(data).names),
    )
    starts = sorted(names)
    found = list[_Place]()
    for address in addresses:
        instruction = decode(_read_word(image, address), isa)
        assert instruction is not None, "it was executed"
        number = bisect_right(starts, address) - 1
        function = names[starts[number]] if number >= 0 else "code"
        here = lines.at(address)
        arguments = [("pc", f"{address:#x}")]
        arguments += [("source", f"{here.shown_file}:{here.line}")] if here is not None and here.line else []
        arguments += [("reason", here.reason)] if here is not None and here.reason else []
        kind = instruction_class(expand_compressed(instruction, isa).row.mnemonic)
        found.append(_Place(function, kind, instruction_text(instruction), tuple(arguments)))
    return found


def _distinct_functions(names: Mapping[int, str]) -> dict[int, str]:
    """Names of functions; those of one name, as files that are linked may have them, are told apart by their
    addresses.
    """
    taken = list(names.values())
    return {at: name if taken.count(name) == 1 else f"{name} at {at:#x}" for at, name in names.items()}


def _read_word(image: Image, address: int) -> int:
    """Word of code, up to four bytes."""
    segment = next(s for s in image.segments if s.is_code and s.address <= address < s.address + s.size)
    at = address - segment.address
    return int.from_bytes(segment.data[at : at + 4], "little")
