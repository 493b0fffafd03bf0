# SPDX-License-Identifier: Apache-2.0
"""The model of a Tensix tile (native/tensix/bind.cpp). Callers name cores 0 to 4 (B, T0, T1, T2, NC) and threads 0 to
2; `polyloom.targets.tensix.run.tile` checks them."""

from typing import final

import numpy as np
from numpy.typing import NDArray

Finding = tuple[str, int, int, int, int, int, int, int, int, int, str, str, bool]
"""Kind, thread (-1 without one), cycle, cycle of the earlier word, word, earlier word, the addresses they were pushed
from (0 where by hand), their numbers among the words pushed by hand (from 1 on; 0 where by a core), what happened, what
helps, and whether it is wrong in this run."""

Event = tuple[int, int, int, int, int, int, int, int]
"""Start, end, thread (-1 of a core), track (the units, packers 0 to 3, the cores), word, address and number as above,
the cycle in which the word was pushed."""

@final
class Tile:
    def __init__(self, blackhole: bool, policy: int) -> None:
        """`policy`: what hazards do; 0 nothing, 1 are reported, 2 stop the run."""

    def view(self, name: str) -> NDArray[np.uint32]:
        """Writable: `l1`, `iram` and `dst_valid` are uint8, `dst` is uint16, the others uint32."""

    def local_ram(self, core: int) -> NDArray[np.uint8]: ...
    def push(self, thread: int, words: NDArray[np.uint32]) -> None: ...
    def release(self, core: int, pc: int | None) -> None: ...
    def hold(self, core: int) -> None: ...
    def attach(self, bytes: int, speed: int, latency: int) -> None:
        """A memory behind the tile, once: bytes a cycle for each NoC and direction, cycles from a request to its
        answer. It is the view `dram`, uint8."""

    def traffic(self) -> list[tuple[int, int, int, int]]:
        """Of each NoC: bytes read and cycles busy with it, bytes written and cycles busy with it."""

    def run(self, max_cycles: int) -> int:
        """0 idle, 1 at max_cycles or where the watched word has changed, 2 a deadlock, 3 a fault."""

    def step(self) -> bool:
        """One cycle; False where it faulted."""

    def registers(self, core: int) -> list[int]: ...
    def pc(self, core: int) -> int: ...
    def retired(self, core: int) -> int: ...
    def passed(self, thread: int) -> tuple[int, int, int]:
        """Instructions into the MOP expander, out of it, out of the Replay expander."""

    def unit(self, unit: int) -> tuple[int, int]:
        """Of a unit: instructions accepted, and cycles busy."""

    ignore_mmio: bool
    tracing: bool
    accounting: bool
    watched: int
    """The address of a word in L1 whose change ends a run; 0 for none."""

    @property
    def cycle(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def moved(self) -> int:
        """Bytes between L1 and the unpackers and packers, in lines of 16."""
    @property
    def waits(self) -> list[str]: ...
    @property
    def ignored_mmio(self) -> int: ...
    @property
    def idle(self) -> bool: ...
    @property
    def findings(self) -> list[Finding]: ...
    @property
    def fault(self) -> Finding | None: ...
    def events_from(self, first: int) -> list[Event]:
        """`events` without the first ones."""

    @property
    def tally(self) -> list[tuple[int, int, int, int]]:
        """Of an account, in no order: thread, why (native/tensix/tile.hpp), address, cycles."""

    @property
    def over_time(self) -> tuple[int, bytes]:
        """Of an account: a step, and cycles by thread and reason at multiples of it, 64 bits each."""

    @property
    def events(self) -> list[Event]:
        """Of the trace, in the order of acceptance."""

@final
class Grid:
    """Tiles at places of NoC 0, 10 * y + x, with memory in each of twelve channels: bytes, bytes a cycle, latency."""

    def __init__(self, places: list[int], policy: int, bytes: int, speed: int, latency: int) -> None: ...
    def tile(self, number: int) -> Tile: ...
    def dram(self, channel: int) -> NDArray[np.uint8]: ...
    def run(self, max_cycles: int) -> int:
        """As of a tile."""

    def links(self) -> list[tuple[int, int, int, int, int]]:
        """Of each link that has carried something: NoC, place, direction (into the NoC, along x, along y, out of it),
        flits, cycles that headers waited."""

    def channels(self) -> list[tuple[int, int, int]]:
        """Of each channel: bytes read, bytes written, cycles busy."""

    @property
    def cycle(self) -> int: ...
    @property
    def cycles(self) -> int: ...
    @property
    def stepped(self) -> int:
        """Cycles of tiles that were awake, of all tiles together."""
    @property
    def faulty(self) -> int:
        """The tile whose fault ended the run."""
    @property
    def waits(self) -> list[list[str]]: ...

@final
class MatrixBench:
    """The matrix unit, the unpackers, the packers and their address counters alone: words execute at once."""

    def __init__(self, blackhole: bool = False) -> None: ...
    def view(self, name: str) -> NDArray[np.uint32]:
        """Writable: `l1` and `valid` are uint8, `dst` is uint16, the others uint32; `srca` and `srcb` are (2, 64, 16),
        `rwc` (3, 8), `adc` (3, 3, 8, 2)."""

    def run(self, thread: int, words: NDArray[np.uint32], times: int = 1) -> None:
        """ValueError with the kind and text of a fault."""

    def ready(self, thread: int, word: int) -> bool: ...
    def timing(self, thread: int, word: int) -> tuple[int, int, int, int, int, int, int]:
        """Unit, cycles busy, latency; first row and rows of Dst that are read, then that are written."""

    def give(self, b: bool, bank: int, with_matrix: bool) -> None: ...
    def banks(self) -> tuple[int, int, int, int, bool, bool, bool, bool]:
        """The banks of SrcA and SrcB that the matrix unit uses and that the unpackers use; whether SrcA's two, then
        SrcB's two, are with the matrix unit."""

def matrix_distance(earlier: int, later: int) -> int: ...
def multiply_add(
    blackhole: bool, x: NDArray[np.uint32], y: NDArray[np.uint32], z: NDArray[np.uint32], result: NDArray[np.uint32]
) -> None:
    """x·y + z of the vector unit, of patterns; lengths are multiples of 32."""

@final
class VectorBench:
    """The vector unit alone: words execute one a cycle, with results at once or, `timed`, when the machine has them.
    Arrays are writable views."""

    def __init__(self, blackhole: bool = False) -> None: ...
    def run(
        self, words: NDArray[np.uint32], timed: bool = False, thread: int = 0, repeat: int = 1
    ) -> list[tuple[str, int, int]]:
        """Reports: kind, cycle, word. ValueError with the kind and text of a fault."""

    def timing(
        self, word: int, thread: int = 0
    ) -> tuple[int, int, int, int, tuple[int, int], tuple[int, int], bool, bool]:
        """Cycles busy, latency, registers read and written by bit, first row and rows of Dst read and written, whether
        too early a reader waits, whether SFPNOP must follow."""

    def seed(self, value: int) -> None: ...
    def invalidate(self) -> None:
        """Leaves all rows of Dst undefined."""

    flags: tuple[int, int]
    """By lane: set, and used."""
    dst_counter: int
    """Of thread 0."""
    @property
    def depth(self) -> int: ...
    @property
    def cycle(self) -> int: ...
    @property
    def miscellaneous(self) -> int: ...
    @property
    def registers(self) -> NDArray[np.uint32]:
        """17 registers of 32 lanes."""

    @property
    def dst(self) -> NDArray[np.uint16]:
        """1024 rows of 16 columns, in Dst's order of bits."""

    @property
    def lane_config(self) -> NDArray[np.uint32]: ...
    @property
    def random(self) -> NDArray[np.uint32]: ...
    @property
    def templates(self) -> NDArray[np.uint32]: ...
    @property
    def sequences(self) -> NDArray[np.uint32]: ...
    @property
    def config(self) -> NDArray[np.uint32]:
        """Bank 0."""

    @property
    def thread_config(self) -> NDArray[np.uint32]: ...
