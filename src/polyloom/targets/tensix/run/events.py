# SPDX-License-Identifier: Apache-2.0
"""Trace of a tile: a lane per unit and per packer, per core, and two per thread, where words are pushed and where they
retire. Arrows lead from a push to the unit that executes the word, or what it expands to, and on to where it retires.

A core's words are pushed by an instruction of the core; those that are pushed by hand have spans of their own. Spans of
a pipelined unit overlap; who writes the trace spreads them over a lane per stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from polyloom._native import tensix as native
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.riscv.disassemble import instruction_text
from polyloom.riscv.encode import decode as decode_riscv
from polyloom.riscv.names import parse_isa
from polyloom.riscv.source_lines import Lines
from polyloom.targets.provenance import place_provenance
from polyloom.targets.tensix.run.tile import CORES, UNITS, Tile
from polyloom.targets.tensix.words.disassemble import disassemble
from polyloom.targets.tensix.words.encode import unrotate_word
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.trace import Arrow, Span, Trace

_PACKERS: Final = tuple(f"packer {n}" for n in range(4))
TRACKS: Final = (*(("units", unit) for unit in (*UNITS, *_PACKERS)), *(("cores", core) for core in CORES))
FIRST_CORE: Final = len(UNITS) + len(_PACKERS)
CORE_ISA: Final = parse_isa("rv32im")
_LOW_BITS: Final = 3
"""Of a word that is an instruction of RISC-V."""


def trace(tile: Tile, lines: Lines | None = None) -> Trace:
    """Trace of all that the tile has done while it was traced; `lines` say where a core's words come from."""
    events = tile.native.events
    # A push and the core's instruction share cycle and program counter, which identifies the span to point from.
    places = {(e[0], e[5]): TRACKS[e[3]] for e in events if e[3] >= FIRST_CORE}
    spans = [_unit_span(event, tile.member, lines or Lines()) for event in events]
    spans += _push_spans(events, places)
    spans += (Span("threads", f"t{e[2]} retired", event_name(e, tile.member), e[1], 1) for e in events if e[2] >= 0)
    return Trace(tuple(spans), (), tuple(_flow_arrows(events, places)), holds=True)


def _unit_span(event: native.Event, member: Member, lines: Lines) -> Span:
    start, end, thread, track, _, pc, index, _ = event
    about = [("thread", f"t{thread}")] if thread >= 0 else []
    if index:
        about.append(("word", str(index)))
    elif pc or track >= FIRST_CORE:
        about.append(("pushed from" if thread >= 0 else "address", f"{pc:#x}"))
        found = place_provenance(origin(lines, pc))
        about += found.told.items() if found is not None else ()
    # An event of no length would be invisible in the viewers.
    return Span(*TRACKS[track], event_name(event, member), start, max(1, end - start), tuple(about))


def origin(lines: Lines, address: int) -> Place:
    """Source place of a word. What a vector kernel's word computes, a single name, is no reason."""
    found = lines.at(address) or NOWHERE
    # Reasons are sentences; a single word is the name of the value that is computed, which the trace shows already.
    return found if " " in found.reason else replace(found, reason="")


def event_name(event: native.Event, member: Member) -> str:
    word = event[4]
    if event[3] < FIRST_CORE:
        return disassemble(word, member)
    if word & _LOW_BITS != _LOW_BITS:
        return disassemble(unrotate_word(word), member)
    found = decode_riscv(word, CORE_ISA)
    return instruction_text(found) if found is not None else f".word {word:#010x}"


def _push_spans(events: list[native.Event], places: dict[tuple[int, int], tuple[str, str]]) -> Iterator[Span]:
    """Spans of words that no core pushed: each once, however much it expands to."""
    seen: set[tuple[int, int]] = set()
    for _, _, thread, _, _, pc, index, pushed in events:
        if thread >= 0 and (pushed, pc) not in places and (thread, pushed) not in seen:
            # One push may expand to many events (MOP, REPLAY); they share the cycle of the push.
            seen.add((thread, pushed))
            yield Span("threads", f"t{thread} pushed", f"word {index}", pushed, 1)


def _flow_arrows(events: list[native.Event], places: dict[tuple[int, int], tuple[str, str]]) -> Iterator[Arrow]:
    for start, end, thread, track, _, pc, _, pushed in events:
        if thread >= 0:
            yield Arrow(
                "push", places.get((pushed, pc), ("threads", f"t{thread} pushed")), pushed, TRACKS[track], start
            )
            yield Arrow("retire", TRACKS[track], start, ("threads", f"t{thread} retired"), end)
