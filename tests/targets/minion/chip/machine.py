# SPDX-License-Identifier: Apache-2.0
"""Programs on a chip, for tests: assembly in, and what the run says out. All arrays lie in DRAM from ARRAYS on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from polyloom._native.minion import Chip
from polyloom.targets.minion.words import tensor_words as words
from polyloom.targets.minion.words.assemble import assemble_lines

if TYPE_CHECKING:
    from polyloom._native.minion import Result

ENTRY = 0x80_0000_1000
ARRAYS = 0x80_0100_0000
SCRATCHPAD = 0x8000_0000
MACHINE = {"shires": 32, "l2_kib": 512, "l3_kib": 1024, "scratchpad_kib": 2560}
HAZARDS = {"off": 0, "report": 1, "error": 2, "poison": 3}

START = """
    li t0, 0x6000
    csrs mstatus, t0
    csrwi mcache_control, 1
    csrwi mcache_control, 3
"""
END = """
end:
    li t0, 0x1FEED000
    csrw validation0, t0
"""
FIRST_HARTS = """
    csrr s0, mhartid
    andi t1, s0, 1
    bnez t1, end
    srli s0, s0, 1
"""


def csr(number: int, value: int, x31: int | None = None) -> str:
    """A write of a tensor CSR."""
    first = "" if x31 is None else f"li x31, {x31}\n"
    return f"{first}li t0, {value}\ncsrw {number}, t0\n"


def load(start: int, rows: int, address: int, stride: int = 64, load_id: int = 0, **fields: object) -> str:
    return csr(0x83F, words.load(start, rows, address, **fields), words.load_second_word(stride, load_id))  # pyright: ignore[reportArgumentType]


def load_b(rows: int, address: int, stride: int = 64) -> str:
    return csr(0x83F, words.load_b(rows, address), words.load_second_word(stride, 1))


def wait(event: int) -> str:
    return f"csrwi tensor_wait, {event}\n"


@dataclass
class Run:
    chip: Chip
    result: "Result"

    def read(self, address: int, shape: tuple[int, ...], dtype: type[np.generic]) -> NDArray[np.generic]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        return np.frombuffer(self.chip.read(address, size), dtype).reshape(shape)


def run(
    text: str,
    arrays: Mapping[int, NDArray[np.generic]] | None = None,
    minions: int = 1,
    *,
    functional: bool = False,
    hazards: str = "error",
    timing: dict[str, float] | None = None,
    max_cycles: int = 1_000_000,
    trace: bool = False,
    threads: int = 1,
) -> Run:
    options = {
        "functional": int(functional), "hazards": HAZARDS[hazards], "max_cycles": max_cycles, "trace": int(trace),
        "threads": threads,
    }  # fmt: skip
    chip = Chip(minions, MACHINE, timing or {}, options)
    assert chip.write(ENTRY, assemble_lines(text + END, ENTRY, "test.s").data) == ""
    for address, array in (arrays or {}).items():
        assert chip.write(address, array.tobytes()) == ""
    return Run(chip, chip.run(ENTRY))
