# SPDX-License-Identifier: Apache-2.0
"""Happens-before of a run's accesses to the shires' own scratchpads, from its trace and its words alone.

Barriers of a compiled program stand between its loops, so that their addresses divide it into epochs, and nothing but
an epoch's end orders two minions: where one stores a line in an epoch, no other one of its shire may access it there.
Second harts that stage a product's operands are ordered by credits within that product.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest

from polyloom.targets.minion.run import model
from polyloom.targets.minion.run.model import Outcome, Setup
from polyloom.targets.minion.words.program import Program
from polyloom.targets.minion.words.tensor_words import Word, decode

# By the numbers of tracks in the model's stub.
_CSRS: Final = {2: 0x83F, 3: 0x83F, 4: 0x85F, 5: 0x85F, 8: 0x87F}
_OWN: Final = 0x80000000 + (0x7F << 23)
"""The scratchpad of whichever shire asks (programmer's reference manual, "Memory map")."""
_BUFFERS: Final = 0x140000
"""Half of a scratchpad: arrays between phases lie behind it, whose accesses have other strides."""
_JOINS: Final = (29, 30, 31)
"""Numbers of the FLBs of barriers."""


class Runs:
    """Runs of the model from now on, with their traces."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, hazards: str | None = None) -> None:
        self.seen = list[tuple[Program, Outcome]]()
        run = model.run

        def traced(program: Program, memory: Any, setup: Setup) -> Any:
            done = run(program, memory, replace(setup, trace=True, hazards=hazards or setup.hazards))
            self.seen.append((program, done.outcome))
            return done

        monkeypatch.setattr(model, "run", traced)

    def unordered(self) -> list[tuple[str, str, int]]:
        return [each for program, outcome in self.seen for each in unordered_accesses(program, outcome)]

    def unequal_joins(self) -> list[int]:
        """FLBs at which harts arrive for barriers of different numbers of harts."""
        joins = (join for program, _ in self.seen for join in set(joins_by_address(program).values()))
        return [number for number, count in Counter(join & 31 for join in joins).items() if count > len(self.seen)]

    def stores(self) -> int:
        """Lines that are stored in own scratchpads."""
        return sum(len(lines) for _, outcome in self.seen for _, _, is_store, lines in _accesses(outcome) if is_store)


def unordered_accesses(program: Program, outcome: Outcome) -> list[tuple[str, str, int]]:
    """Lines that one minion stores and another one of its shire accesses in the same epoch: where both are in the
    source, and the line.
    """
    assert outcome.cut is None
    joins = list(joins_by_address(program))
    stored, touched = defaultdict[tuple[int, int, int], set[tuple[int, str]]](set), defaultdict[Any, Any](set)
    staged = {_source(program, pc) for _, _, _, track, _, pc in outcome.events if track in (4, 5)}
    for minion, pc, is_store, lines in _accesses(outcome):
        for line in lines:
            key = bisect(joins, pc), minion // 32, line
            touched[key].add((minion, _source(program, pc)))
            if is_store:
                stored[key].add((minion, _source(program, pc)))
    found = set[tuple[str, str, int]]()
    for key, stores in stored.items():
        for minion, here in stores:
            others = {
                there for other, there in touched[key] if other != minion and not (here == there and here in staged)
            }
            found |= {(here, there, key[2]) for there in others}
    return sorted(found)


def _accesses(outcome: Outcome) -> Iterator[tuple[int, int, bool, range]]:
    """Minion, address of the instruction, whether it stores, and lines of each access to an own scratchpad."""
    for _, _, minion, track, value, pc in outcome.events:
        if track not in _CSRS:
            continue
        found = decode(Word(_CSRS[track], value))
        assert found is not None
        name, fields = found
        address = (fields["address"] & (1 << 48) - 1) - _OWN
        if name == "tensor_load_l2":
            yield minion, pc, True, range(fields["line"], fields["line"] + fields["rows"])
        elif 0 <= address < _BUFFERS:
            # Tiles there are lines one behind the other.
            yield minion, pc, name.startswith("tensor_store"), range(address // 64, address // 64 + fields["rows"])


def joins_by_address(program: Program) -> dict[int, int]:
    """Arrivals at barriers by address: `csrrw t1, flb, t0` behind an instruction that loads the FLB's number and how
    many arrivals it counts into t0 (manual, chapter 10)."""
    found = dict[int, int]()
    for segment in program.segments:
        if not segment.is_code:
            continue
        words = [int.from_bytes(segment.data[n : n + 4], "little") for n in range(0, len(segment.data) - 3, 4)]
        for n, (before, word) in enumerate(pairwise(words), 1):
            loads = before & 0x707F in (0x13, 0x1B) and before >> 7 & 31 == 5
            if word == 0x820 << 20 | 5 << 15 | 1 << 12 | 6 << 7 | 0x73 and loads and before >> 20 & 31 in _JOINS:
                found[segment.address + 4 * n] = before >> 20
    return found


def _source(program: Program, pc: int) -> str:
    return program.locator.at(pc).source
