# SPDX-License-Identifier: Apache-2.0
"""Instruction set simulator: programs on the native interpreter (native/riscv/hart.hpp), with one hart, one memory, no
timing.

The memory is the span of the image's segments and, above them, room for a stack; x2 points to its end. The environment
knows three calls of Linux: exit (93), exit_group (94) and write (64) to files 1 and 2. Everything else that stops a run
is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom._native import riscv
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.memory import available_bytes
from polyloom.riscv.disassemble import instruction_text
from polyloom.riscv.encode import decode
from polyloom.riscv.header import extension_bits
from polyloom.riscv.image import Image
from polyloom.riscv.names import Isa
from polyloom.riscv.timing.core import COUNTS, Core, CycleCounts, describe_paces, instruction_costs

RA, SP, A0 = 1, 2, 10
# In the order of the enumeration in native/riscv/hart.hpp, whose numbers the native run returns.
_CAUSES: Final = (
    "exit",
    "stop",
    "limit",
    "illegal",
    "fetch",
    "load",
    "store",
    "misaligned",
    "breakpoint",
    "call",
    "misaligned",
)
# 8 GiB: what a host may be asked for.
_LARGEST: Final = 1 << 33
# The base is rounded to a page, so that addresses of small programs do not depend on their first segment.
_PAGE: Final = 4096
STACK: Final = 1 << 20
LIMIT: Final = 10**12
SLICE: Final = 1 << 25
"""Some tenth of a second of work."""
_PART: Final = 1 << 18
"""Bytes of an array that are moved at once."""
_NONE: Final[NDArray[np.uint64]] = np.zeros(0, np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """End of a run: an exit code, or (None) the address to stop at; the number of executed instructions, and the
    addresses of those that were to be kept.
    """

    exit_code: int | None
    instructions: int
    executed: NDArray[np.uint64] = field(default_factory=lambda: _NONE)


class Machine:
    """Hart with an image in its memory; all registers 0 but for sp. Errors: PL0910 where the image does not fit."""

    def __init__(self, image: Image, room: int = STACK, core: Core | None = None) -> None:
        """`room` is the number of bytes above the image. With a core the hart counts, and takes its time."""
        self.isa: Final = image.isa
        self.base: Final = min(s.address for s in image.segments) // _PAGE * _PAGE
        end = max(s.address + s.size for s in image.segments)
        self.size: Final = min((end - self.base + room + _PAGE - 1) // _PAGE * _PAGE, (1 << image.isa.xlen) - self.base)
        code = [s for s in image.segments if s.is_code]
        start, stop = min(s.address for s in code), max(s.address + s.size for s in code)
        self._image: Final = image
        self._core: Final = core
        self._start: Final = start
        costs = None if core is None else instruction_costs(image, core) if core.is_timed else []
        try:
            # An image may name addresses far apart, and the memory is one span: refused here, before the system runs
            # out of memory.
            if self.size > min(_LARGEST, available_bytes()):
                raise MemoryError
            self._hart: Final = riscv.Hart(
                image.isa.xlen, extension_bits(image.isa.extensions), self.base, self.size, start, stop - start, costs
            )
        except MemoryError:
            raise input_error(
                "PL0910", f"the image needs {self.size} bytes of memory", help="link its segments closer together"
            ) from None
        for segment in image.segments:
            # Bytes between the segments' data and sizes are zero already (.bss).
            self._hart.write(segment.address, segment.data)
        self.entry: Final = image.entry
        # psABI: sp is aligned to 16 bytes at the entry of a function.
        self.set_x(SP, (self.base + self.size - 16) // 16 * 16)

    @property
    def x(self) -> list[int]:
        """The integer registers, unsigned."""
        return self._hart.x

    @property
    def f(self) -> list[int]:
        """Bits of the floating-point registers; a single is NaN-boxed, with ones above it (RISC-V unprivileged manual,
        "NaN Boxing of Narrower Values").
        """
        return self._hart.f

    @property
    def fcsr(self) -> int:
        """Floating-point control and status register: flags in bits 0 to 4 (NX, UF, OF, DZ, NV), the rounding mode in
        bits 5 to 7 (RISC-V unprivileged manual, "Floating-Point Control and Status Register").
        """
        return self._hart.fcsr

    @property
    def moved(self) -> int:
        """The bytes of all loads and stores; those of an atomic operation count once."""
        return self._hart.moved

    @property
    def counts(self) -> CycleCounts | None:
        """What a hart that counts has counted; None of others."""
        if self._core is None:
            return None
        paces = describe_paces(self._image, self._start, self._hart.executed, self._hart.waits)
        if (found := self._hart.over_time) is None:
            return CycleCounts(sum(pace.executed for pace in paces), paces, is_timed=False)
        step, counts = found
        return CycleCounts(self._hart.clock, paces, True, step, np.array(counts, np.int64).reshape(-1, COUNTS))

    def set_x(self, number: int, value: int) -> None:
        """Sets an integer register to `value` modulo 2**XLEN."""
        values = self._hart.x
        values[number] = value % (1 << self.isa.xlen)
        self._hart.x = values

    def set_f(self, number: int, bits: int) -> None:
        """Sets a floating-point register to 64 bits."""
        values = self._hart.f
        values[number] = bits
        self._hart.f = values

    def set_fcsr(self, value: int) -> None:
        self._hart.fcsr = value

    def read(self, address: int, length: int) -> bytes:
        """Bytes of the memory. Errors: PL0912 outside it."""
        self._check(address, length)
        return self._hart.read(address, length)

    def set_registers(self, x: list[int], f: list[int], fcsr: int) -> None:
        """Sets all registers, as `x`, `f` and `fcsr` have told them."""
        self._hart.x, self._hart.f, self._hart.fcsr = x, f, fcsr

    @property
    def environment(self) -> tuple[bool, int, bytes, bytes]:
        """State besides registers and memory: the reservation of lr, held or not, its address, and both outputs."""
        return self._hart.environment

    def set_environment(self, state: tuple[bool, int, bytes, bytes]) -> None:
        """Sets what `environment` has told."""
        self._hart.environment = state

    def write(self, address: int, data: bytes) -> None:
        """Changes bytes of the memory, and forgets what was decoded. Errors: PL0912 outside it."""
        self._check(address, len(data))
        self._hart.write(address, data)

    def store_array(self, address: int, array: NDArray[Any]) -> None:
        """Stores a contiguous array in the memory. Errors: PL0912 outside it."""
        content = array.reshape(-1).view(np.uint8)
        # In parts: a copy of the whole would double what a large array takes.
        for first in range(0, len(content), _PART):
            self.write(address + first, content[first : first + _PART].tobytes())

    def load_array(self, address: int, array: NDArray[Any]) -> None:
        """Loads a contiguous array from the memory, in place. Errors: PL0912 outside it."""
        content = array.reshape(-1).view(np.uint8)
        for first in range(0, len(content), _PART):
            part = content[first : first + _PART]
            part[:] = np.frombuffer(self.read(address + first, len(part)), np.uint8)

    @property
    def output(self) -> bytes:
        """What the program wrote to its standard output."""
        return self._hart.written(1)

    @property
    def errors(self) -> bytes:
        """What the program wrote to its standard error."""
        return self._hart.written(2)

    def run(
        self,
        pc: int | None = None,
        *,
        stop: int | None = None,
        limit: int = LIMIT,
        watch: Callable[[int], None] | None = None,
        record: int = 0,
    ) -> Run:
        """Execution from `pc` (the image's entry) to an exit or to the address `stop`.

        `watch` is called with the number of instructions executed after every `SLICE` of them, where signals are
        heeded; without it a run is one slice. The addresses of the first `record` instructions are kept. Errors: PL0911
        to PL0914.
        """
        at, end, executed = self.entry if pc is None else pc, _return_address(self) if stop is None else stop, 0
        kept = list[NDArray[np.uint64]]()
        while True:
            # The native code does not look at signals: between slices Python does, so that Ctrl-C ends a run.
            most = min(limit - executed, SLICE) if watch else limit - executed
            if executed < record:
                (cause, at, value, count, word), places = self._hart.trace(at, end, min(most, record - executed))
                kept.append(np.frombuffer(places, np.uint64))
            else:
                cause, at, value, count, word = self._hart.run(at, end, most)
            executed += count
            # `limit` is the end of a slice or of the run; the count tells which.
            name = _CAUSES[cause]
            if name in ("exit", "stop"):
                return Run(value if name == "exit" else None, executed, np.concatenate([_NONE, *kept]))
            if name != "limit" or executed >= limit:
                raise _trap_error(name, at, value, word, self.isa)
            if watch is not None:
                watch(executed)

    def step(self, pc: int, stop: int) -> tuple[int, int | None]:
        """One instruction: the pc behind it, and the exit code where it ends the program. Errors: PL0911 to PL0913."""
        cause, at, value, _, word = self._hart.run(pc, stop, 1)
        if (name := _CAUSES[cause]) not in ("exit", "stop", "limit"):
            raise _trap_error(name, at, value, word, self.isa)
        return at, value if name == "exit" else None

    def call(self, pc: int, *arguments: int, limit: int = LIMIT) -> tuple[int, int]:
        """Call of a function of integers at `pc`: (the value of a0, instructions executed). Arguments are in a0 to a7
        (psABI, "Integer Calling Convention").
        """
        for number, value in enumerate(arguments):
            self.set_x(A0 + number, value)
        # No instruction stands there, and the hart stops at it when the function returns.
        self.set_x(RA, _return_address(self))
        done = self.run(pc, limit=limit)
        return self.x[A0], done.instructions

    def _check(self, address: int, length: int) -> None:
        if not self.base <= address <= address + length <= self.base + self.size:
            message = (
                f"{length} bytes at {address:#x} are outside the memory, which is {self.base:#x} to "
                f"{self.base + self.size:#x}"
            )
            raise input_error("PL0912", message, help="give the machine more room")


def _return_address(machine: Machine) -> int:
    """Return address outside all code: the end of the memory, or 0 where that is the end of all addresses."""
    return (machine.base + machine.size) % (1 << machine.isa.xlen)


def _trap_error(cause: str, pc: int, value: int, word: int, isa: Isa) -> PolyloomError:
    """Error message of a trap, by its cause."""
    here = f"at {pc:#x}"
    if cause == "limit":
        return input_error(
            "PL0914",
            f"the program did not end after its limit of instructions, {here}",
            help="raise the limit, or mend its loop",
        )
    if cause == "fetch":
        return input_error(
            "PL0912",
            f"the program jumped to {value:#x}, where no code is",
            help="look at the return address, or at a pointer to a function",
        )
    found = decode(word, isa)
    if cause == "illegal" and found is None:
        # The length of an instruction is in its lowest two bits.
        digits = 8 if word & 3 == 3 else 4
        return input_error(
            "PL0911",
            f"{here}: the word 0x{word:0{digits}x} is no instruction of {isa}",
            help="give the instruction set that the program is for",
        )
    text = instruction_text(found) if found is not None else f"{word:#x}"
    if cause == "illegal":
        return input_error(
            "PL0911",
            f"{here}: `{text}` is illegal: there is no such register, or no such rounding mode",
            help="the registers are fflags, frm and fcsr",
        )
    if cause == "breakpoint":
        return input_error(
            "PL0913", f"{here}: breakpoint", help="remove the ebreak, or the call of abort that leads to it"
        )
    if cause == "call":
        return input_error(
            "PL0913",
            f"{here}: the environment has no call {value}",
            help="it has exit (93), exit_group (94) and write (64)",
        )
    if cause == "misaligned":
        return input_error(
            "PL0912",
            f"{here}: `{text}` accesses {value:#x}, which is not aligned",
            help="align the data to the size of the access",
        )
    return input_error(
        "PL0912",
        f"{here}: `{text}` accesses {value:#x}, outside the memory",
        help="look at the pointer and at the bounds of the loop",
    )
