# SPDX-License-Identifier: Apache-2.0
"""What instructions of the matrix unit do beside numbers agrees with wolfpine: rows that are cleared, banks of Src and
who has them, counters by every address mode. 1,024 sets of operands each; a set is an instruction with its state."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.targets.tensix.matrix.bench import ELWADD, MVMUL, Bench, word
from tests.targets.tensix.matrix.test_peer import MOVA2D, MOVB2D, MOVD2A, Peer

pytestmark = pytest.mark.skipif(not find_spec("framework"), reason="wolfpine is not installed")
SETS = 1024
ZEROACC, ZEROSRC, CLEARDVALID, SETRWC, INCRWC, SETDVALID = 0x10, 0x11, 0x36, 0x37, 0x38, 0x57
RWC = ("SrcA", "SrcA_Cr", "SrcB", "SrcB_Cr", "Dst", "Dst_Cr", "FidelityPhase", "ExtraAddrModBit")
BITS = np.array([63, 63, 63, 63, 1023, 1023, 3, 1], np.uint32)
"""That the machine has of them; wolfpine's have no width."""


class Both:
    """Our unit and wolfpine's in one state."""

    def __init__(self) -> None:
        self.bench, self.peer = Bench(), Peer()
        self.backend: Any = self.peer.backend

    def share(self, counters: np.ndarray[Any, Any], banks: tuple[int, ...]) -> None:
        """Counters of thread 0, and the banks that are with the matrix unit (A0, A1, B0, B1). Configuration as ours."""
        backend = self.backend
        for at in range(57):
            backend.config_unit.setThreadConfig(0, at, int(self.bench.own[at]))
        backend.config_unit.setConfig(0, 1, int(self.bench.config[1]))
        self.bench.rwc[0] = counters
        for name, value in zip(RWC, counters, strict=True):
            setattr(backend.getRWC(0), name, int(value))
        backend.getDst().dstRowValid[:] = self.bench.valid
        for k, mine in enumerate(banks):
            self.bench.native.give(k > 1, k % 2, bool(mine))
            source = (backend.getSrcA, backend.getSrcB)[k > 1](k % 2)
            clients = self.peer.clients
            source.setAllowedClient(clients.MatrixUnit if mine else clients.Unpackers)

    def run(self, each: int) -> None:
        self.bench.run(each)
        self.peer.run(each)
        self.backend.misc_unit.clock_tick(0)

    def counters(self) -> None:
        got = np.array([getattr(self.backend.getRWC(0), name) for name in RWC], np.int64) & BITS
        assert (self.bench.rwc[0] & BITS).tolist() == got.tolist()

    def banks(self) -> None:
        backend, owner = self.backend, self.peer.clients.MatrixUnit
        units = backend.unpacker_units
        who = [get(k).allowedClient == owner for get in (backend.getSrcA, backend.getSrcB) for k in (0, 1)]
        at = (backend.matrix_unit.srcABank, backend.matrix_unit.srcBBank, units[0].srcBank, units[1].srcBank)
        assert self.bench.native.banks() == (*at, *who)


def some_counters(random: np.random.Generator) -> np.ndarray[Any, Any]:
    return random.integers(0, 1 << 30, 8) & BITS


MODES = {
    "MVMUL": word(MVMUL),
    "ELWADD": word(ELWADD),
    "MOVA2D": word(MOVA2D),
    "MOVB2D": word(MOVB2D),
    "MOVD2A": word(MOVD2A),
    "ZEROACC": word(ZEROACC),
}


@pytest.mark.parametrize("name", MODES)
def test_address_modes(name: str) -> None:
    """Every mode of both halves of the table, with any increments and flags."""
    random, both = np.random.default_rng(3), Both()
    both.bench.alu("bf16")
    for _ in range(SETS // (8 if name in ("MVMUL", "ELWADD") else 1)):
        both.bench.own[7:] = random.integers(0, 1 << 16, 57)
        both.bench.own[56] = 0  # FP16A_FORCE
        both.bench.own[2] = random.integers(0, 2)
        counters = some_counters(random)
        counters[0] &= 31  # MVMUL reads 16 rows of SrcA from there
        both.share(counters, (1, 1, 1, 1))
        both.run(MODES[name] | int(random.integers(0, 4)) << 15)
        both.counters()


@pytest.mark.parametrize("opcode", [SETRWC, INCRWC])
def test_counters(opcode: int) -> None:
    random, both = np.random.default_rng(4), Both()
    for _ in range(SETS):
        both.share(some_counters(random), (1, 1, 1, 1))
        fields = int(random.integers(0, 1 << 22))
        both.run(opcode << 24 | (fields if opcode == SETRWC else fields & 0x1FFFC0))
        both.counters()


@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize("mode", range(8))
def test_rows_that_are_cleared(mode: int, fp32: bool) -> None:
    random, both = np.random.default_rng(5), Both()
    both.bench.alu("bf16", fp32=fp32)
    for _ in range(SETS // 16):
        both.bench.valid[:] = random.integers(0, 2, 1024)
        both.bench.own[1] = random.integers(0, 256)
        counters = some_counters(random)
        counters[4] &= 255
        both.share(counters, (1, 1, 1, 1))
        both.run(word(ZEROACC, (mode, 19), (int(random.integers(0, 512 if mode in (0, 4) else 1024)), 0)))
        assert np.array_equal(both.backend.getDst().dstRowValid.astype(bool), both.bench.valid.astype(bool))


def test_banks_that_are_cleared() -> None:
    random, both = np.random.default_rng(6), Both()
    backend = both.backend
    for _ in range(SETS // 16):
        for ours, get in ((both.bench.srca, backend.getSrcA), (both.bench.srcb, backend.getSrcB)):
            ours[:] = random.integers(0, 1 << 19, ours.shape)
            for k in (0, 1):
                get(k).data[:] = ours[k]
        both.share(some_counters(random), (1, 1, 1, 1))
        both.run(word(SETRWC, (int(random.integers(0, 4)), 22)))
        both.share(some_counters(random), (1, 1, 1, 1))
        both.run(word(ZEROSRC, (int(random.integers(0, 16)), 0)))
        for ours, get in ((both.bench.srca, backend.getSrcA), (both.bench.srcb, backend.getSrcB)):
            for k in (0, 1):
                assert np.array_equal(get(k).data.astype(np.int64) & 0x7FFFF, ours[k])


def test_who_has_a_bank() -> None:
    random, both = np.random.default_rng(7), Both()
    for _ in range(SETS):
        mine = tuple(int(k) for k in random.integers(0, 2, 4))
        both.share(some_counters(random), mine)
        a, b, *_ = both.bench.native.banks()
        flips, low = int(random.integers(0, 4)) & (mine[a] | mine[2 + b] << 1), int(random.integers(0, 4))
        each = (word(CLEARDVALID, (flips, 22), (low, 0)), word(SETDVALID, (flips, 0)), word(SETRWC, (flips, 22)))
        both.run(each[int(random.integers(0, 3))])
        both.banks()
