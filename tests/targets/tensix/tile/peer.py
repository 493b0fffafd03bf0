# SPDX-License-Identifier: Apache-2.0
"""The coprocessor of wolfpine, a Python model of the same machine, behind the arrays that our tile has: its front ends,
gates, scalar, sync and configuration units, counters, and as much of L1 as tests use. It is a peer, not the law:
docs/targets/tensix-peer.md says which source decides where both disagree."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.targets.tensix import python as tensix
from polyloom.targets.tensix.words.encode import encode
from polyloom.targets.tensix.words.isa import table

Words = NDArray[np.uint32]
L1: Final = 0x4000
"""Bytes of L1 that both have."""
_PACKAGE: Final = "framework.pe.tensix."
_WORD: Final = 0xFFFFFFFF
_ROWS: Final = {row.name: row for row in table().values()}
_CONFIG_WORDS, _THREAD_WORDS = 188, 57
_COUNTERS: Final = ("X", "X_Cr", "Y", "Y_Cr", "Z", "Z_Cr", "W", "W_Cr")
_RWC: Final = ("SrcA", "SrcA_Cr", "SrcB", "SrcB_Cr", "Dst", "Dst_Cr", "FidelityPhase", "ExtraAddrModBit")
STATE: Final = ("gpr", "config", "thread_config", "adc", "rwc", "semaphores", "mutexes", "l1")
FAILS: Final = (AssertionError, IndexError, KeyError, NotImplementedError, OverflowError, TypeError, ValueError)
"""What wolfpine raises for what it lacks."""


def word(name: str, **fields: int) -> int:
    """Of an instruction, by the names of its macros."""
    return encode(_ROWS[name], fields)


class _Memory:
    def __init__(self) -> None:
        self.data = bytearray(L1)

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.data[address : address + size])

    def write(self, address: int, value: bytes) -> None:
        if address + len(value) > L1:
            raise IndexError(address)
        self.data[address : address + len(value)] = value


class Peer:
    """Without its costs: instructions take the cycle in which a unit accepts them."""

    def __init__(self) -> None:
        pytest.importorskip(_PACKAGE + "tensix", reason="wolfpine is not installed")
        importlib.import_module(_PACKAGE + "semaphore_contract").set_checking_enabled(False)
        self.made: Any = importlib.import_module(_PACKAGE + "tensix").TensixCoProcessor(None)
        self.backend: Any = self.made.getBackend()
        self._memory = _Memory()
        self.backend.setAddressableMemory(self._memory)
        self._clocks: list[Any] = self.made.getClocks()
        self._cycle = 0

    def load(self, tile: tensix.Tile) -> None:
        """The state of our tile."""
        config: Any = self.backend.getConfigUnit()
        for bank in range(2):
            config.config[bank][:] = tile.config[bank][:_CONFIG_WORDS].tolist()
        for thread in range(3):
            self.backend.getGPR().registers[thread][:] = tile.gpr[thread].tolist()
            config.threadConfig[thread][:] = tile.thread_config[thread][:_THREAD_WORDS].tolist()
            for unit, channel, axis, value in self._counters(thread):
                setattr(unit.Channel[channel], axis, int(tile.adc[thread, value, _COUNTERS.index(axis), channel]))
            for k, name in enumerate(_RWC):
                setattr(self.backend.getRWC(thread), name, int(tile.rwc[thread, k]))
        for k, semaphore in enumerate(self.backend.getSyncUnit().semaphores):
            semaphore.value, semaphore.max = map(int, tile.semaphores[k])
        for k, mutex in enumerate(self.backend.getSyncUnit().mutexes):
            mutex.held_by = None if tile.mutexes[k] == 0xFFFFFFFF else int(tile.mutexes[k])
        self._memory.data[:] = tile.l1[:L1].tobytes()

    def _counters(self, thread: int) -> list[tuple[Any, int, str, int]]:
        """Every address counter of a thread: of which unit and channel, its name, the number of the unit."""
        adc: Any = self.backend.getADC(thread)
        units = (adc.Unpacker[0], adc.Unpacker[1], adc.Packers)
        return [(unit, c, axis, k) for k, unit in enumerate(units) for c in (0, 1) for axis in _COUNTERS]

    def push(self, thread: int, words: Sequence[int]) -> None:
        for each in words:
            self.made.getThread(thread).push_mop_instruction(each)

    def run(self, most: int = 10_000) -> bool:
        """Whether everything has executed; else something waits for ever."""
        for _ in range(most):
            self._cycle += 1
            for clock in self._clocks:
                clock.clock_tick(self._cycle)
            if not any(self.made.CoprocessorDoneCheck(thread) for thread in range(3)):
                return True
        return False

    def expand(self, words: Sequence[int]) -> list[int]:
        """What thread 0 makes of words, before its gate."""
        thread: Any = self.made.getThread(0)
        self.push(0, words)
        while thread.mop_instruction_fifo or thread.replay_instruction_fifo:
            thread.mop_expander.clock_tick(0)
            while thread.replay_instruction_fifo:
                thread.replay_expander.clock_tick(0)
        made: list[int] = thread.wait_gate_instruction_fifo[:]
        thread.wait_gate_instruction_fifo.clear()
        return made

    def view(self, name: str) -> NDArray[Any]:
        """As our tile has it; numbers that wolfpine lets grow beyond 32 bits are cut."""
        if name == "l1":
            return np.frombuffer(bytes(self._memory.data), np.uint8)
        return np.array([_cut(each) for each in self._values(name)], np.uint32)

    def _values(self, name: str) -> list[Any]:
        if name == "gpr":
            return self.backend.getGPR().registers
        if name == "config":
            return self.backend.getConfigUnit().config
        if name == "thread_config":
            return self.backend.getConfigUnit().threadConfig
        if name == "semaphores":
            return [[s.value, s.max] for s in self.backend.getSyncUnit().semaphores]
        if name == "mutexes":
            return [_WORD if m.held_by is None else m.held_by for m in self.backend.getSyncUnit().mutexes]
        if name == "rwc":
            return [[getattr(self.backend.getRWC(t), each) for each in _RWC] for t in range(3)]
        return [[getattr(u.Channel[c], axis) for u, c, axis, _ in self._counters(t)] for t in range(3)]


def _cut(value: Any) -> Any:
    if not isinstance(value, list):
        return int(value) & _WORD
    return [_cut(each) for each in cast("list[Any]", value)]


def ours(tile: tensix.Tile, name: str) -> NDArray[Any]:
    """The part of our state that both have, in the peer's order."""
    if name == "l1":
        return tile.l1[:L1]
    if name == "config":
        return tile.config[:, :_CONFIG_WORDS]
    if name == "thread_config":
        return tile.thread_config[:, :_THREAD_WORDS]
    if name == "adc":
        return tile.adc.transpose(0, 1, 3, 2).reshape(3, -1)
    return getattr(tile, name)


def differences(tile: tensix.Tile, peer: Peer, names: Sequence[str] = STATE) -> list[str]:
    """Of the state, a line per place."""
    found: list[str] = []
    for name in names:
        own, other = ours(tile, name), peer.view(name)
        for at in np.argwhere(own != other):
            place = tuple(int(k) for k in at)
            found.append(f"{name}{place}: {own[place]:#x}, wolfpine {other[place]:#x}")
    return found
