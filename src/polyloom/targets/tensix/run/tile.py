# SPDX-License-Identifier: Apache-2.0
"""Model of a tile, `pl.tensix.Tile`: state as NumPy arrays that can be written, and what a run of it comes to.

The model is native (native/tensix); this module loads programs, checks names and numbers, and tells findings with the
words' instructions. Source of the semantics: the public ISA documentation of Wormhole B0 and Blackhole, as
docs/targets/tensix.md says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Final, Literal, cast

import numpy as np
from numpy.typing import NDArray

from polyloom import files
from polyloom._native import tensix as native
from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.riscv.image import Segment, elf_image
from polyloom.riscv.names import parse_isa
from polyloom.targets.tensix.options import CORES, MAX_CYCLES, POLICIES, Core, Hazards
from polyloom.targets.tensix.words.disassemble import disassemble
from polyloom.targets.tensix.words.dram_port import FLIT, MEMORY, DramPort
from polyloom.targets.tensix.words.isa import Member

Stop = Literal["idle", "max-cycles", "deadlock", "fault"]
UNITS: Final = (
    "nop", "sync", "unpack0", "unpack1", "matrix", "pack", "vector", "scalar", "config", "mover", "misc",
)  # fmt: skip
STOPS: Final[tuple[Stop, ...]] = ("idle", "max-cycles", "deadlock", "fault")
_LATENCIES: Final = range(1, 10_001)
_WAITING: Final = re.compile(r"\b(word|behind) (0x[0-9a-f]{8})\b")
_LOCAL, _IRAM = 0xFFB00000, 0xFFC00000
_CORE: Final = parse_isa("rv32im")


@dataclass(frozen=True, slots=True)
class Finding:
    """A hazard or a fault. `thread` is -1 where it is no thread's; the addresses are those that a core pushed the words
    from, the indices number the words that were pushed into the thread by hand, from 1 on; 0 where it is the other.
    `earlier` is the hazard's other instruction.
    """

    kind: str
    thread: int
    cycle: int
    earlier_cycle: int
    word: int
    earlier: int
    pc: int
    earlier_pc: int
    index: int
    earlier_index: int
    text: str
    cure: str
    wrong: bool = True
    member: Member = "wormhole"

    @property
    def level(self) -> str:
        """`wrong here`: the run read an old value, or lost an instruction; `at risk`: another timing would."""
        return "wrong here" if self.wrong else "at risk"

    def __str__(self) -> str:
        """One line: thread, cycle, what happened, both instructions with their addresses."""
        who = f"thread t{self.thread}, " if self.thread >= 0 else ""
        level = "" if self.wrong else f" ({self.level})"
        parts = [f"{self.kind}{level}: {who}cycle {self.cycle}: {self.text}"]
        if self.word:
            parts.append(_word_phrase(self.word, self.pc, self.index, self.member))
        if self.earlier:
            earlier = _word_phrase(self.earlier, self.earlier_pc, self.earlier_index, self.member)
            parts.append(f"after {earlier} of cycle {self.earlier_cycle}")
        return "; ".join(parts)


def _name_words(wait: str, member: Member) -> str:
    """What a thread waits for, with instructions in the place of words."""
    # The word that waits may stand behind another, which holds its thread.
    return _WAITING.sub(
        lambda found: f"{'behind ' if found[1] == 'behind' else ''}`{disassemble(int(found[2], 16), member)}`", wait
    )


def _word_phrase(word: int, pc: int, index: int, member: Member) -> str:
    place = f" (word {index})" if index else f" pushed from {pc:#x}"
    return f"`{disassemble(word, member)}`{place}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run: why it ended, after how many cycles, all hazards of the tile so far, the fault, and of a
    deadlock what each thread and core waits for.
    """

    stop: Stop
    cycles: int
    hazards: tuple[Finding, ...] = ()
    fault: Finding | None = None
    waits: tuple[str, ...] = ()

    def error(self) -> PolyloomError | None:
        """Error of the outcome, if anything is wrong (PL1220 to PL1222)."""
        if self.stop == "deadlock":
            message = f"nothing can move any more after cycle {self.cycles}"
            return input_error("PL1222", message, notes=self.waits, help="release what the threads wait for")
        if self.fault is None:
            return None
        # Under --hazards error the hazard that ended the run is the fault as well.
        code = "PL1221" if self.fault in self.hazards else "PL1220"
        return input_error(code, str(self.fault), help=self.fault.cure or None)


@dataclass(frozen=True, slots=True)
class Views:
    """The arrays of a tile's state; writing to them writes to the tile. `Tile` says of each what it holds."""

    l1: NDArray[np.uint8]
    lregs: NDArray[np.uint32]
    flags: NDArray[np.uint32]
    dst: NDArray[np.uint16]
    dst_valid: NDArray[np.uint8]
    srca: NDArray[np.uint32]
    srcb: NDArray[np.uint32]
    gpr: NDArray[np.uint32]
    config: NDArray[np.uint32]
    thread_config: NDArray[np.uint32]
    rwc: NDArray[np.uint32]
    adc: NDArray[np.uint32]
    semaphores: NDArray[np.uint32]
    mutexes: NDArray[np.uint32]
    replay: NDArray[np.uint32]
    mop_config: NDArray[np.uint32]
    lane_config: NDArray[np.uint32]


VIEWS: Final = tuple(Views.__dataclass_fields__)


@dataclass(slots=True)  # a machine is a thing that changes
class Tile:
    """A tile after power-on. Its arrays are its state: what you write to them is the tile's next state.

    `hazards` says which hazards stop the run as a fault: all (`error`), those that are wrong in this run (`wrong`), or
    none: they are listed (`report`), or nobody looks (`off`). `ignore_mmio` lets registers that are not modelled read 0
    and swallow writes. `port` puts a memory behind the tile, which cores reach by the registers of both NoCs. `model`
    is a native tile that is there already, of a grid. Errors: PL1223.
    """

    member: Member = "wormhole"
    hazards: Hazards = "error"
    ignore_mmio: bool = False
    port: DramPort | None = None
    model: InitVar[native.Tile | None] = None
    native: native.Tile = field(init=False, repr=False)
    views: Views = field(init=False, repr=False)

    def __post_init__(self, model: native.Tile | None) -> None:
        if self.hazards not in POLICIES:
            raise input_error("PL1223", f"{self.hazards!r} is no way to treat hazards", help=_choices_help(POLICIES))
        self.native = model or native.Tile(self.member == "blackhole", POLICIES[self.hazards])
        self.native.ignore_mmio = self.ignore_mmio
        if self.port is not None:
            self._attach(self.port)
        # NumPy views share memory with the native model, so that writing to them writes to the tile.
        self.views = Views(**{name: self.native.view(name) for name in VIEWS})  # pyright: ignore[reportArgumentType]: the types are the stub's

    def _attach(self, port: DramPort) -> None:
        # Blackhole's NIUs have other registers.
        if self.member != "wormhole":
            raise input_error("PL1223", f"{self.member} has no port to DRAM", help='use `member="wormhole"`')
        numbers = (port.memory_bytes, port.bytes_per_cycle, port.latency)
        if (
            not 0 <= port.memory_bytes <= MEMORY
            or not 16 <= port.bytes_per_cycle <= FLIT
            or port.latency not in _LATENCIES
        ):
            help = f"give 0 to {MEMORY} bytes, 16 to 32 bytes a cycle, and a latency of 1 to {_LATENCIES[-1]} cycles"
            raise input_error("PL1223", f"there is no port of {numbers}", help=help)
        self.native.attach(*numbers)

    @property
    def dram(self) -> NDArray[np.uint8]:
        """All of the memory behind the tile, bytes; empty without a port."""
        return cast(NDArray[np.uint8], self.native.view("dram")) if self.port is not None else np.zeros(0, np.uint8)

    @property
    def l1(self) -> NDArray[np.uint8]:
        """All of L1, bytes."""
        return self.views.l1

    @property
    def lregs(self) -> NDArray[np.uint32]:
        """Vector registers L0 to L16, (17, 32): a row of 32 lanes each (ISA documentation, page of `LReg`)."""
        return self.views.lregs

    @property
    def flags(self) -> NDArray[np.uint32]:
        """Lane flags (condition codes): flags set, flags in use, a bit per lane (ISA documentation, page of
        `SFPSETCC`).
        """
        return self.views.flags

    @property
    def dst(self) -> NDArray[np.uint16]:
        """Dst, (1024, 16): rows of 16 bits, in the order of the hardware's bits (ISA documentation, page of `Dst`)."""
        return self.views.dst

    @property
    def dst_valid(self) -> NDArray[np.uint8]:
        """Of each row of `dst`, whether anything was written since ZEROACC."""
        return self.views.dst_valid

    @property
    def srca(self) -> NDArray[np.uint32]:
        """SrcA, (2, 64, 16): bank, row, column; 19 bits (ISA documentation, page of `SrcA` and `SrcB`)."""
        return self.views.srca

    @property
    def srcb(self) -> NDArray[np.uint32]:
        """SrcB, as `srca`."""
        return self.views.srcb

    @property
    def gpr(self) -> NDArray[np.uint32]:
        """GPRs of the scalar unit, (3, 64): thread, register."""
        return self.views.gpr

    @property
    def config(self) -> NDArray[np.uint32]:
        """Configuration, (2, 188) or on Blackhole (2, 224): bank, word."""
        return self.views.config

    @property
    def thread_config(self) -> NDArray[np.uint32]:
        """Configuration of each thread, (3, 57) or on Blackhole (3, 68)."""
        return self.views.thread_config

    @property
    def rwc(self) -> NDArray[np.uint32]:
        """Register window counters (RWC) of each thread, (3, 8): SrcA, its carriage, SrcB, carriage, Dst, carriage,
        fidelity, bias (ISA documentation, page of `SETRWC`).
        """
        return self.views.rwc

    @property
    def adc(self) -> NDArray[np.uint32]:
        """Address counters (ADC), (3, 3, 8, 2): thread; unpackers 0 and 1, packers; X, Y, Z, W and carriages; channel
        (ISA documentation, page of `SETADC`).
        """
        return self.views.adc

    @property
    def semaphores(self) -> NDArray[np.uint32]:
        """Semaphores, (8, 2): value, maximum (ISA documentation, page of `SEMINIT`)."""
        return self.views.semaphores

    @property
    def mutexes(self) -> NDArray[np.uint32]:
        """Mutexes, (8,): the owner, all ones where free (ISA documentation, page of `ATGETM`)."""
        return self.views.mutexes

    @property
    def replay(self) -> NDArray[np.uint32]:
        """Replay buffers, (3, 32): a ring of words per thread (ISA documentation, page of `REPLAY`)."""
        return self.views.replay

    @property
    def mop_config(self) -> NDArray[np.uint32]:
        """Configuration of the MOP expanders, (3, 9) (ISA documentation, page of `MOP`)."""
        return self.views.mop_config

    @property
    def lane_config(self) -> NDArray[np.uint32]:
        """LaneConfig of each column of lanes, (8,)."""
        return self.views.lane_config

    def push(self, thread: int | str, words: Sequence[int] | NDArray[np.uint32]) -> None:
        """Words for a thread, one a cycle and under back-pressure, as its core would push them. Errors: PL1223."""
        # Core t0 is number 1: b comes before the three threads.
        number = CORES.index(self._check_core(thread)) - 1 if isinstance(thread, str) else thread
        if not 0 <= number < 3:
            raise input_error("PL1223", f"{thread!r} is no thread", help="the threads are t0, t1 and t2")
        try:
            made = np.ascontiguousarray(words, dtype=np.uint32)
        except (OverflowError, TypeError, ValueError):
            help = "give integers from 0 to 0xFFFFFFFF, such as `pl.tensix.assemble(text).words`"
            raise input_error("PL1223", "what is pushed has other things than words", help=help) from None
        self.native.push(number, made)

    def load_elf(self, core: str, path: str | Path) -> int:
        """Loader of a core's program; returns its entry. Errors: PL0910 for another file, PL1224 for segments where the
        core has no memory.
        """
        self._check_core(core)
        image = elf_image(files.read(str(path)), _CORE)
        for segment in image.segments:
            self._load_segment(core, segment)
        return image.entry

    def _load_segment(self, core: str, segment: Segment) -> None:
        data = np.zeros(segment.size, np.uint8)
        data[: len(segment.data)] = np.frombuffer(segment.data, np.uint8)
        for base, memory in self._memories(core):
            start = segment.address - base
            if 0 <= start <= len(memory) - segment.size:
                memory[start : start + segment.size] = data
                return
        # An empty segment needs no memory, wherever it stands.
        if not segment.size:
            return
        raise input_error(
            "PL1224",
            f"core {core} has no memory at {segment.address:#x} for {segment.size} bytes",
            help=f"link it with the linker script {core}.ld of `pl.tensix.include`",
        )

    def _memories(self, core: str) -> list[tuple[int, NDArray[np.uint8]]]:
        """Memories that a core's program may lie in: L1, its local memory, and NC's instruction memory (ISA
        documentation, page of `BabyRISCV`).
        """
        number = CORES.index(self._check_core(core))
        found = [(0, self.views.l1), (_LOCAL, self.native.local_ram(number))]
        return [*found, (_IRAM, cast(NDArray[np.uint8], self.native.view("iram")))] if core == "nc" else found

    def release(self, core: str, pc: int | None = None) -> None:
        """Let a core leave reset, at its reset address unless another is given. Errors: PL1223."""
        self.native.release(CORES.index(self._check_core(core)), pc)

    def run(self, max_cycles: int = MAX_CYCLES, *, check: bool = True) -> Outcome:
        """Until the tile is idle, nothing can move, or `max_cycles` have passed. A fault, a deadlock, and under `error`
        a hazard are raised unless `check` is off (PL1220 to PL1222); the tile stays readable. Errors: PL1223 for a
        number of cycles that is none."""
        if not 0 <= max_cycles < 1 << 63:
            raise input_error(
                "PL1223", f"a tile runs no {max_cycles} cycles", help="give 0 to 2^63 - 1, or leave it out"
            )
        stop = STOPS[self.native.run(max_cycles)]
        waits = tuple(_name_words(each, self.member) for each in self.native.waits)
        outcome = Outcome(stop, self.native.cycles, self.findings(), self.fault(), waits)
        error = outcome.error() if check else None
        if error is not None:
            raise error
        return outcome

    def findings(self) -> tuple[Finding, ...]:
        """All hazards so far."""
        # The native side knows words only; they are disassembled here, when a message is needed.
        return tuple(self._translate_finding(each) for each in self.native.findings)

    def fault(self) -> Finding | None:
        """What ended the last run, if it was a fault."""
        fault = self.native.fault
        return self._translate_finding(fault) if fault else None

    def step(self) -> None:
        """One cycle. Errors: PL1220 and PL1221."""
        if not self.native.step() and (fault := self.fault()) is not None:
            raise input_error("PL1220", str(fault), help=fault.cure or None)

    def utilization(self) -> dict[str, float]:
        """Of each unit, the share of all cycles so far in which it was busy; 0 before the first."""
        cycles = max(1, self.native.cycle)
        return {name: self.native.unit(n)[1] / cycles for n, name in enumerate(UNITS) if n}

    def threads(self) -> list[tuple[int, int, int]]:
        """Of each thread: instructions into the MOP expander, out of it, out of the Replay expander."""
        return [self.native.passed(thread) for thread in range(3)]

    def _translate_finding(self, found: native.Finding) -> Finding:
        return Finding(*found, self.member)

    def _check_core(self, name: str) -> Core:
        if name not in CORES:
            raise input_error("PL1223", f"{name!r} is no core of a tile", help=nearest(name, CORES, "core"))
        return name


def _choices_help(names: Sequence[str] | dict[Hazards, int]) -> str:
    return f"write one of {', '.join(names)}"
