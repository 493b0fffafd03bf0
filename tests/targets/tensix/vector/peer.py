# SPDX-License-Identifier: Apache-2.0
"""The vector unit of wolfpine, a Python model of the same machine, behind the arrays that ours has. It is a peer, not
the law: where both disagree, docs/targets/tensix-peer.md says which source decides."""

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.vector.words import Lanes


class Peer:
    def __init__(self, blackhole: bool) -> None:
        self._module: Any = importlib.import_module("framework.pe.tensix.tensix")
        self._util: Any = importlib.import_module("framework.pe.tensix.util")
        self._backend: Any = self._module.TensixCoProcessor(None, blackhole=blackhole).getBackend()
        self._unit: Any = self._backend.vector_unit

    def close(self) -> None:
        """Its layout of configuration is global: Wormhole's again, for whoever comes next."""
        self._util.TensixConfigurationConstants.use_blackhole(False)

    def load(self, registers: Lanes, flags: tuple[int, int], dst: NDArray[np.uint16]) -> None:
        for k in range(8):
            self._unit.lregs[k].data[:] = [int(v) for v in registers[k]]
        for k in range(11, 15):
            self._unit.lregs[k].data[:] = [int(v) for v in registers[k]]
        self._unit.laneFlags[:] = [bool(flags[0] >> k & 1) for k in range(32)]
        self._unit.useLaneFlagsForLaneEnable[:] = [bool(flags[1] >> k & 1) for k in range(32)]
        self._backend.getDst().dstBits[:] = dst

    def run(self, word: int) -> None:
        assert self._unit.issueInstruction(word, 0)
        self._unit.clock_tick(0)

    @property
    def registers(self) -> Lanes:
        return np.array([self._unit.lregs[k].data for k in range(8)], np.uint32)

    @property
    def flags(self) -> tuple[int, int]:
        fields = (self._unit.laneFlags, self._unit.useLaneFlagsForLaneEnable)
        set_, used = (sum(int(bool(v)) << k for k, v in enumerate(field)) for field in fields)
        return set_, used

    @property
    def dst(self) -> NDArray[np.uint16]:
        return self._backend.getDst().dstBits.astype(np.uint16)
