# SPDX-License-Identifier: Apache-2.0
"""Issue order of a straight run of one thread's words: recorded instructions where REPLAY plays them back, and the
expansion of a MOP where the file says how the expander is configured (mop.py). A run is cut at what is not known.

Front end: MOP expander, then Replay expander (ISA documentation, page of `MOP` and page of `REPLAY`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.targets.tensix.words.decode import Decoded, decode
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.mop import expand_mop
from polyloom.targets.tensix.words.program import Item

_RING: Final = 32
"""Slots of a replay buffer."""
_WHOLE: Final = 64
"""What a REPLAY of length 0 means."""


@dataclass(frozen=True, slots=True)
class Issued:
    """An instruction in the order of issue; of one that is played back, `item` is where it was recorded."""

    item: Item
    found: Decoded

    @property
    def name(self) -> str:
        return self.found.row.name

    @property
    def mode(self) -> int:
        return self.found.row.mode(self.item.word)

    @property
    def reads(self) -> frozenset[int]:
        return self.found.row.registers(self.item.word, self.found.row.reads)

    @property
    def writes(self) -> frozenset[int]:
        return self.found.row.registers(self.item.word, self.found.row.writes)


def segments(run: Sequence[Item], member: Member) -> Iterator[list[Issued]]:
    """Segments of issued instructions: the output of the Replay expander, cut where an instruction is not known (ISA
    documentation, page of `REPLAY`: a ring of 32 slots, length 0 means 64).
    """
    ring: dict[int, Issued] = {}
    issued: list[Issued] = []
    recording = slot = 0
    executes = True
    for this in _expand_mops(run, member):
        if this is None:
            yield issued
            issued = []
        # While the buffer records, a REPLAY in the stream is an instruction as any other and goes into a slot.
        elif recording:
            ring[slot % _RING] = this
            recording, slot = recording - 1, slot + 1
            # Recording without execution only fills the buffer (bit 1 of REPLAY, page of `REPLAY`).
            if executes:
                issued.append(this)
        elif this.name == "REPLAY" and this.found.values["load_mode"]:
            recording, slot = this.found.values["len"] or _WHOLE, this.found.values["start_idx"]
            executes = bool(this.found.values["execute_while_loading"] & 1)
        elif this.name == "REPLAY":
            # A slot that was recorded in another run may hold anything by now.
            played = _replay_slots(this.found, ring)
            if played is None:
                yield issued
                issued = []
            else:
                issued += played
        else:
            issued.append(this)
    yield issued


def _expand_mops(run: Sequence[Item], member: Member) -> Iterator[Issued | None]:
    """Output of the MOP expander; None where an instruction or an expansion is not known."""
    mask_high: int | None = None
    for item in run:
        found = decode(item.word, member)
        if found is None:
            yield None
        elif found.row.name == "MOP_CFG":
            # MOP_CFG keeps the upper half of the mask until it is written again.
            mask_high = found.values["zmask_hi16"] & 0xFFFF
        elif found.row.name != "MOP":
            yield Issued(item, found)
        else:
            words = None if item.mop is None else expand_mop(found, item.mop, mask_high)
            yield from (None,) if words is None else (_expand_item(item, word, member) for word in words)


def _expand_item(item: Item, word: int, member: Member) -> Issued | None:
    found = decode(word, member)
    return None if found is None else Issued(replace(item, word=word, is_expanded=True), found)


def _replay_slots(found: Decoded, ring: dict[int, Issued]) -> list[Issued] | None:
    """Instructions in a range of slots; None where one was not recorded in this run."""
    start, length = found.values["start_idx"], found.values["len"] or _WHOLE
    # The buffer is a ring: a playback that reaches slot 31 goes on at slot 0.
    slots = [(start + k) % _RING for k in range(length)]
    return [ring[slot] for slot in slots] if all(slot in ring for slot in slots) else None
