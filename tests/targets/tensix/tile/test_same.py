# SPDX-License-Identifier: Apache-2.0
"""The same words take the same cycles and leave the same state and trace: in one run, in pieces, cycle by cycle, and
beside a thread that only waits, which makes the loop take the way for several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.targets.tensix.tile.tools import words
from tests.targets.tensix.vector.words import ADD, ADDI, IADD, LOAD, LOADI, LUT, MAD, MUL, SHFT2, STORE, SWAP, patterns

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

INCRWC, SIMPLE = 0x38, (0x77, 0x78, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x80, 0x81, 0x87, 0x88, 0x8A, 0x8B, 0x8F, 0x90)
OPCODES = (LOAD, STORE, LOADI, MAD, ADD, MUL, MAD, ADDI, IADD, SWAP, SHFT2, LUT, *SIMPLE)


def random_words(random: np.random.Generator, count: int) -> list[int]:
    """Of the vector unit, with all kinds of hazards; now and then INCRWC and a part played back."""
    made: list[int] = []
    for n in range(count):
        opcode, bits = int(random.choice(OPCODES)), int(random.integers(1 << 24))
        if opcode in (LOAD, STORE):
            bits = bits & 0x70C3FC | int(random.choice([0, 1, 2, 3, 4, 12])) << 16
        elif opcode == LOADI:
            bits = bits & 0x70FFFF | int(random.choice([0, 1, 2, 4, 8, 10])) << 16
        elif opcode == LUT:
            bits = bits & 0x740000
        else:
            mode = bits % {MAD: 16, SWAP: 9, SHFT2: 7}.get(opcode, 2)
            bits = bits & 0xFFFF70 | mode
        made.append(opcode << 24 | bits)
        if n % 40 == 20:
            made += [INCRWC << 24 | 2 << 14, *words("REPLAY 0, 12, 1, 1")]
        if n % 40 == 39:
            made += words("REPLAY 0, 12, 0, 0")
    return made


def fresh(seed: int, member: str, hazards: str = "report") -> tensix.Tile:
    random = np.random.default_rng(seed)
    tile = tensix.Tile(member=member, hazards=hazards)  # pyright: ignore[reportArgumentType]: callers write the literals
    tile.lregs[:8] = patterns(random, (8, 32))
    tile.dst[:] = random.integers(0, 1 << 16, (1024, 16))
    tile.dst_valid[:] = random.random(1024) < 0.9
    tile.native.tracing = True
    tile.push("t1", random_words(random, 600))
    return tile


def told(tile: tensix.Tile) -> dict[str, Any]:
    """All that can be seen of thread 1 and the vector unit."""
    own = [event for event in tile.native.events if event[2] == 1]
    found = [each for each in tile.native.findings if each[1] == 1]
    arrays = {name: getattr(tile, name).tolist() for name in ("lregs", "flags", "dst", "dst_valid", "rwc")}
    return {**arrays, "events": own, "findings": found, "vector": tile.native.unit(6), "passed": tile.threads()[1]}


def in_pieces(tile: tensix.Tile) -> None:
    for cycles in (1, 2, 3, 5, 100, 7, 10_000):
        tile.run(cycles)


def by_steps(tile: tensix.Tile) -> None:
    while not tile.native.idle:
        tile.step()


def beside_a_thread_that_waits(tile: tensix.Tile) -> None:
    """T0's semaphore is never posted, so that it asks in every cycle and is never served."""
    tile.push("t0", words("SEMINIT 1, 0, 1\nSEMWAIT 0x1ff, 1, 1\nSFPNOP"))
    outcome = tile.run(10_000, check=False)
    assert outcome.stop == "deadlock"


@pytest.mark.parametrize("member", ["wormhole", "blackhole"])
@pytest.mark.parametrize("way", [in_pieces, by_steps, beside_a_thread_that_waits])
@pytest.mark.parametrize("seed", range(4))
def test_words_take_the_same_way(seed: int, way: Callable[[tensix.Tile], None], member: str) -> None:
    whole, other = fresh(seed, member), fresh(seed, member)
    assert whole.run(10_000).stop == "idle"
    way(other)
    assert told(whole) == told(other)
    assert whole.native.unit(6)[0] > 600 and len(told(whole)["findings"]) > 10


@pytest.mark.parametrize("seed", range(8))
def test_a_hazard_stops_a_run_in_its_cycle(seed: int) -> None:
    whole, other = fresh(seed, "wormhole", "error"), fresh(seed, "wormhole", "error")
    assert whole.run(10_000, check=False).stop == "fault"
    with pytest.raises(PolyloomError):
        by_steps(other)
    assert told(whole) == told(other) and whole.native.cycle == other.native.cycle
