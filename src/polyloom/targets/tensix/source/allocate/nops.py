# SPDX-License-Identifier: Apache-2.0
"""Hazard avoidance by SFPNOP where the hardware does not wait: behind what takes two cycles, if the next instruction
needs its result.

SFPMAD and its relatives, and the shuffles of SFPSHFT2 (ISA documentation, page of `SFPMAD` and page of `SFPSHFT2`). Any
instruction of the thread between the two will do. Between blocks the first words of all that may follow count.
Blackhole waits for SFPMAD and its relatives by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from polyloom.ir.ssa import successor_edges
from polyloom.targets.tensix.source.allocate.words import Line, Listing, Word, decode_word, make_word
from polyloom.targets.tensix.words.decode import Decoded, decode
from polyloom.targets.tensix.words.isa import Member

_SHUFFLES: Final = (2, 3, 4)


@dataclass(frozen=True, slots=True)
class Use:
    """Registers that a word reads and writes, as far as it is a vector instruction."""

    found: Decoded
    reads: frozenset[int]
    writes: frozenset[int]
    waits: bool

    @property
    def has_late_result(self) -> bool:
        """Whether the next instruction may not read what it writes."""
        return (self.found.row.hazard == "mad" and not self.waits) or self.is_shuffle

    @property
    def is_shuffle(self) -> bool:
        return self.found.row.name == "SFPSHFT2" and self.found.values["instr_mod1"] in _SHUFFLES


def register_use(line: Word, listing: Listing) -> Use | None:
    """Register use of a word; None for what is not known, or no vector instruction."""
    return _use(line.bits, listing.member) if line.is_known else None


@cache
def _use(bits: int, member: Member) -> Use | None:
    found = decode(bits, member)
    # Instructions of other units neither read vector registers nor execute in the vector unit's pipeline.
    if found is None or found.row.unit != "vector":
        return None
    row = found.row
    reads, writes = (row.registers(bits, roles) for roles in (row.reads, row.writes))
    return Use(found, reads, writes, member == "blackhole")


def insert_nops(listing: Listing) -> Listing:
    """Listing with SFPNOPs where a hazard would be."""
    return listing.with_lines(tuple(_fill_block(k, listing)) for k in range(len(listing.lines)))


def _fill_block(block: int, listing: Listing) -> Iterator[Line]:
    last: Word | None = None
    for line in listing.lines[block]:
        if isinstance(line, Word):
            if last is not None and (why := hazard_reason(last, line, listing)):
                yield make_word("SFPNOP", listing.member, why)
            last = line
        yield line
    if last is not None and (why := _end_hazard(last, block, listing)):
        yield make_word("SFPNOP", listing.member, why)


def hazard_reason(last: Word, line: Word, listing: Listing) -> str:
    """Reason why a word may not follow another at once, or nothing. What the source itself orders so stays."""
    earlier, later = register_use(last, listing), register_use(line, listing)
    if earlier is None or not earlier.has_late_result or (last.is_raw and line.is_raw):
        return ""
    if later is None:
        return "" if decode_word(line, listing.member) is not None else "a computed word may read the result"
    # A write behind a late write would be overtaken by it.
    shared = earlier.writes & (later.reads | later.writes)
    if shared:
        return f"L{min(shared)} is there a cycle later"
    if earlier.is_shuffle and later.found.row.hazard != "nop":
        return "a shuffle takes two cycles"
    return ""


def _end_hazard(last: Word, block: int, listing: Listing) -> str:
    use = register_use(last, listing)
    if use is None or not use.has_late_result:
        return ""
    # All successors count, because a NOP at the end of the block serves every way out of it.
    first = list(_successor_words(block, listing))
    # A caller may read registers right behind the kernel.
    found = [hazard_reason(last, line, listing) if line is not None else "the kernel ends" for line in first]
    return next(filter(None, found), "")


def _successor_words(block: int, listing: Listing) -> Iterator[Word | None]:
    """Words that may be issued next after a block; None for the end of the kernel."""
    position = {b.name: k for k, b in enumerate(listing.function.blocks)}
    seen: set[int] = set()
    work = [block]
    while work:
        edges = successor_edges(listing.function.blocks[work.pop()].terminator)
        if not edges:
            yield None
        for edge in edges:
            k = position[edge.block]
            if k in seen:
                continue
            seen.add(k)
            first = _leading_word(listing.lines[k])
            if first is None:
                work.append(k)
            else:
                yield first


def _leading_word(lines: Sequence[Line]) -> Word | None:
    return next((line for line in lines if isinstance(line, Word)), None)
