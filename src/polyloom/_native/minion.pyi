# SPDX-License-Identifier: Apache-2.0
"""The model of an ET-SoC-1 with any number of its minions (native/minion/bind.cpp). `polyloom.targets.minion.run.model`
checks what callers give."""

from collections.abc import Mapping
from typing import TypedDict, final

import numpy as np
from numpy.typing import NDArray

Event = tuple[int, int, int, int, int, int]
"""A span of the trace: start, end, minion (of a shire's port: the shire), track, word, pc. Tracks: 0 and 1 core of a
hart, 2 load, 3 load to TenB, 4 and 5 load to L2Scp by id, 6 FMA, 7 quant, 8 store, 9 reduce, 10 to 13 the shire's
banks, 14 and 15 vector unit by hart, 16 and 17 waits by hart, whose word is what for (native/minion/timeline.hpp)."""

class Site(TypedDict):
    """Of an instruction: the number of its hart, 2 · minion + thread, and its cycle, 0 where that was not kept."""

    hart: int
    pc: int
    cycle: int

class Finding(TypedDict):
    """A hazard, each place once. `later` met what `earlier` left; a pc of 0 is unknown. `what` names a line, a register
    or an address; `wait` is the tensor_wait that is missing, or -1, and `cure` says what else helps."""

    kind: str
    count: int
    later: Site
    earlier: Site
    later_name: str
    earlier_name: str
    what: str
    value: int
    wait: int
    cure: str
    standing: int
    """Of what sets a bit of tensor_error (`value`): in how many harts it is set when the run ends."""

class Wait(TypedDict):
    """Of a deadlock: a hart, or an operation of its minion, why it waits, and which harts could release it."""

    hart: int
    operation: bool
    pc: int
    since: int
    kind: str
    text: str
    note: str
    releasers: list[int]
    gave: list[Site]

class Result(TypedDict):
    stop: str
    """passed, failed, deadlock, trap, hazard, max-cycles or tensor-error."""
    cycles: int
    """Of the last store or hart's end; of functional runs, the most instructions of a hart."""
    instructions: int
    hart: int
    pc: int
    cause: int
    value: int
    word: int
    """Of a trap; `hart` of whatever stopped the run, and `value` of validation0 where it failed."""
    printed: bytes
    findings: list[Finding]
    waits: list[Wait]
    counters: dict[str, int]
    used: list[str]
    """Parameters of `timing` that the run used."""
    events: list[Event]
    account: list[tuple[int, int, int, int, int, list[tuple[int, int]]]]
    """Of a timed run with an account, in no order: thread of a minion, pc, cycles in which it issued, in which the
    other hart had the slot, before an issue behind a branch, and stalls, what for and cycles
    (native/minion/timeline.hpp)."""
    lives: list[int]
    """By hart: its cycles up to its end, which the account has."""
    over_time: tuple[int, bytes]
    """The same of all harts over time: cycles of a column, and in each column those by kind (issued, the other hart's
    turn, before an issue, then stalls), 64 bits each."""
    cut: int | None
    """The first cycle of which the trace does not have everything."""

@final
class Chip:
    def __init__(
        self, minions: int, machine: Mapping[str, int], timing: Mapping[str, float], options: Mapping[str, int]
    ) -> None:
        """`machine`: shires, l2_kib, l3_kib, scratchpad_kib, erbium (0, 1). `options`: hazards (0 off, 1 report,
        2 error, 3 poison), functional, threads, errata, trace, account, most_spans, max_cycles. `timing`:
        parameters by name; others have their defaults."""

    def write(self, address: int, data: bytes | NDArray[np.uint8]) -> str:
        """Nothing, or what is there instead of memory."""

    def read(self, address: int, size: int) -> bytes:
        """ValueError outside memory, with what is there instead."""

    def run(self, entry: int) -> Result:
        """All harts start at the entry, in machine mode. Once only."""

    def start(self, entry: int, ahead: int) -> None:
        """As `run`, in parts: harts run `ahead` cycles ahead of the slowest, at most."""

    def advance(self) -> list[tuple[int, int, int, int]]:
        """Up to the next event in which instructions were executed: hart, pc before them, cycle and how many. Empty
        where none is left."""

    def finish(self) -> Result:
        """What `run` gives, once nothing is left."""

    def registers(self, hart: int) -> tuple[int, list[int], list[list[int]], list[int]]:
        """pc, x, the eight lanes of each f, m."""

def tensor_multiply(
    word: int,
    masks: NDArray[np.uint16],
    mode: int,
    f: NDArray[np.uint32],
    scp: NDArray[np.uint8],
    tenc: NDArray[np.uint32],
    tenb: NDArray[np.uint8],
    flags: NDArray[np.uint32],
) -> None:
    """tensor_fma on each of T tiles in place: f (T, 32, 8), scp (T, 48, 64), tenc (T, 16, 16), tenb (T, 16, 64);
    `masks` and `flags` (T). Flags are added to those that are set. Like all functions here, for tests."""

def tensor_quantize(
    word: int, mode: int, f: NDArray[np.uint32], scp: NDArray[np.uint8], flags: NDArray[np.uint32]
) -> None: ...
def tensor_store_rows(word: int, x31: int, f: NDArray[np.uint32], scp: NDArray[np.uint8]) -> list[tuple[int, bytes]]:
    """Of one tile: address and bytes of each row; nothing where SIZE and COOP do not go together."""

def tensor_sources(word: int, x31: int, mask: int) -> list[tuple[int, int, bool]]:
    """Accesses of a load: address, bytes, whether the mask leaves it out."""

def tensor_place(word: int, x31: int, mask: int, data: NDArray[np.uint8], there: int, scp: NDArray[np.uint8]) -> None:
    """The first `there` sources, 64 bytes for each of 64, become lines of scp (1, 48, 64)."""

def tensor_combine(funct: int, incoming: NDArray[np.uint32], local: NDArray[np.uint32], mode: int) -> int:
    """Registers (R, 8), `local` in place. The flags."""

def tensor_part(word: int, minion: int) -> tuple[int, int, bool]:
    """Of a tensor_reduce: 0 skips, 1 sends, 2 receives; the peer; whether that sets tensor_error[9]."""

def tensor_conv_mask(size: int, control: int) -> int: ...
def tensor_wide() -> bool:
    """Whether AVX2 and FMA are used."""

def set_tensor_wide(wide: bool) -> None: ...

@final
class FabricBench:
    """The memory system's time alone."""

    def __init__(self, shires: int = 32, l2_kib: int = 512, l3_kib: int = 1024) -> None: ...
    def run(
        self,
        cycles: NDArray[np.uint64],
        minions: NDArray[np.uint64],
        addresses: NDArray[np.uint64],
        use: int,
        there: NDArray[np.uint64],
    ) -> None:
        """Lines in the order of cycles; `use` by number: load, load_b, load_l2, store, scalar, code, cache."""

    @property
    def bytes(self) -> tuple[int, int, int]:
        """Over the ports of banks, over the mesh, from and to DRAM."""

def hops(a: int, b: int) -> int:
    """Between two shires."""

def default_parameters() -> dict[str, float]:
    """Names and values that C++ has."""

def packed(
    words: bytes,
    f: NDArray[np.uint32],
    m: NDArray[np.uint8],
    x: NDArray[np.uint64],
    fcsr: int,
    progress: int,
    memory: NDArray[np.uint8],
    base: int,
    graphics: bool = True,
) -> tuple[int, int, int, int, int]:
    """Words one after the other on one hart, f (32, 8), m (8), x (32) and memory from `base` on changed in place: the
    cause of a trap or -1, instructions executed, the trap's value, fcsr, gsc_progress."""
