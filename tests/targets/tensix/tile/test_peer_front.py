# SPDX-License-Identifier: Apache-2.0
"""Both expanders give the gate the words that a twin in Python gives it, and that wolfpine gives it: 1,024 random and
special configurations and programs of each kind. There are no disagreements."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random

import pytest
from tests.targets.tensix.tile import twin
from tests.targets.tensix.tile.peer import Peer, word

from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.run.tile import UNITS

SETS, PER_TILE = 1024, 16
NOPS = (0x02000000, 0x02ABCDEF)


def step(random: Random) -> int:
    """A word whose like no other is, most likely."""
    return word("INCRWC", rwc_d=random.randrange(16), rwc_b=random.randrange(16), rwc_a=random.randrange(16))


def any_step(random: Random) -> int:
    return random.choice(NOPS) if random.randrange(3) == 0 else step(random)


def loops(random: Random) -> tuple[list[int], list[int]]:
    """Configuration and words of template 1."""
    config = [any_step(random) for _ in range(9)]
    config[0], config[1] = random.choice([0, 1, 1, 2, 3, 5, 40]), random.choice([0, 0, 1, 2, 3, 7])
    for k in (0, 1):
        config[k] |= random.randrange(4) << 7  # seven bits count
    return config, [word("MOP", mop_type=1, loop_count=random.randrange(128), zmask_lo16=random.randrange(1 << 16))]


def unpacks(random: Random) -> tuple[list[int], list[int]]:
    """Of template 0."""
    config = [any_step(random) for _ in range(9)]
    config[1] = random.randrange(8)
    mask, count = random.choice([0, 1, (1 << 32) - 1, random.getrandbits(32)]), random.choice([0, 1, 31, 40])
    words = [word("MOP_CFG", zmask_hi16=mask >> 16)] if random.randrange(4) else []
    return config, [*words, word("MOP", loop_count=count, zmask_lo16=mask & 0xFFFF), *words, step(random)]


def recorded(random: Random, length: int | None = None) -> list[int]:
    """A recording that is swallowed or passes; without a length it fills all slots."""
    length = length or random.randrange(1, 64)
    passes, steps = random.randrange(2), [step(random) for _ in range(length)]
    first = word("REPLAY", start_idx=random.randrange(32), len=length % 64, execute_while_loading=passes, load_mode=1)
    return [first, *steps]


def played(random: Random) -> int:
    return word("REPLAY", start_idx=random.randrange(32), len=random.choice([0, 1, 32, random.randrange(64)]))


def replays(random: Random) -> tuple[list[int], list[int]]:
    """Recordings, playbacks and other words; a MOP is none of them."""
    words = recorded(random, 64)
    for _ in range(4):
        words += random.choice([recorded(random), [played(random)], [step(random)]])
    return [0] * 9, words


def nested(random: Random) -> tuple[list[int], list[int]]:
    """MOPs whose words play back, and which are recorded."""
    config, words = random.choice([loops, unpacks])(random)
    config[2:] = [played(random) if random.randrange(4) == 0 else each for each in config[2:]]
    config[0] = min(config[0] & 127, 3)
    return config, [*recorded(random, 64), *words, played(random)]


KINDS: dict[str, Callable[[Random], tuple[list[int], list[int]]]] = {
    "loops": loops,
    "unpacks": unpacks,
    "replays": replays,
    "nested": nested,
}


class Fronts:
    """Ours, the twin and wolfpine's."""

    def __init__(self) -> None:
        self.twin, self.peer = twin.Front(), Peer()
        self.tile = tensix.Tile(hazards="off")
        self.tile.native.tracing = True
        self._gate: list[int] = []

    def expand(self, config: list[int], words: list[int]) -> None:
        self.tile.mop_config[0] = self.twin.config = config
        self.peer.made.getThread(0).getMOPExpander().mop_cfg[:] = config
        self.tile.push("t0", words)
        self.tile.run()
        expected = self.twin.expand(words)
        assert self.peer.expand(words) == expected
        self._gate += expected

    def check(self) -> None:
        """The words that left our gate, in their order."""
        _, _, _, units, words, *_ = zip(*self.tile.native.events, strict=True)
        assert [each for unit, each in zip(units, words, strict=True) if unit < len(UNITS)] == self._gate


@pytest.mark.parametrize("kind", KINDS)
def test_expanders(kind: str) -> None:
    random = Random(kind)
    for _ in range(SETS // PER_TILE):
        fronts = Fronts()
        for _ in range(PER_TILE):
            fronts.expand(*KINDS[kind](random))
        fronts.check()


def test_all_small_loops() -> None:
    """Every template with 0 to 2 iterations and each word either there or a NOP: 1,152 configurations."""
    fronts, mop = Fronts(), word("MOP", mop_type=1)
    for outer, inner, *present in product(range(3), range(3), *[(False, True)] * 7):
        words = [word("INCRWC", rwc_d=k, rwc_a=1) if here else NOPS[0] for k, here in enumerate(present)]
        fronts.expand([outer, inner, *words], [mop])
    fronts.check()
