# SPDX-License-Identifier: Apache-2.0
"""The matrix unit agrees with wolfpine's, a Python model of the same machine, where both execute: a thousand operand
sets and more of each form (an operand set is an element of Dst with what it is computed from).

Known to differ, and what decides. Products and sums of FP16: real numbers there, the data path of the public golden
model here. Integers of 8 bits: its products raise, its sums take sign and magnitude for two's complement; the
instruction pages decide. MVMUL with a broadcast row: all seven rows there, every other one on the instruction's page.
MOVB2D: its low mantissa bits depend on SrcB's configured format there, on SrcA's on the instruction's page. GMPOOL with
an index is absent there."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.tensix.matrix.bench import ELWADD, ELWMUL, ELWSUB, FORMATS, GAPOOL, GMPOOL, MVMUL, Bench, Bits, word
from tests.tensix.matrix.test_arithmetic import random_src

pytestmark = pytest.mark.skipif(not find_spec("framework"), reason="wolfpine is not installed")
MOVA2D, MOVB2D, MOVD2A, MOVD2B, TRNSPSRCB = 0x12, 0x13, 0x08, 0x0A, 0x16
PEER = "framework.pe.tensix."


class Peer:
    def __init__(self) -> None:
        self._backend: Any = importlib.import_module(PEER + "tensix").TensixCoProcessor(None).getBackend()
        self._constants: Any = importlib.import_module(PEER + "util").TensixConfigurationConstants
        self._owner: Any = importlib.import_module(PEER + "registers").SrcRegister.SrcClient.MatrixUnit
        self._unit: Any = self._backend.matrix_unit

    def alu(self, bench: Bench) -> None:
        for at in (1, 2):
            self._backend.config_unit.setConfig(0, at, int(bench.config[at]))

    def load(self, bench: Bench) -> None:
        for source, of in ((self._backend.getSrcA(0), bench.srca), (self._backend.getSrcB(0), bench.srcb)):
            source.data[:] = of[0]
            source.setAllowedClient(self._owner)
        dst = self._backend.getDst()
        dst.dstBits[:], dst.dstRowValid[:] = bench.dst, bench.valid
        self._backend.getRWC(0).FidelityPhase = int(bench.rwc[0, 6])

    def run(self, word: int) -> None:
        assert self._backend.issueInstruction(word, 0)
        self._unit.clock_tick(0)

    def dst(self, valid: Bits) -> Bits:
        return np.where(valid[:, None], self._backend.getDst().dstBits, 0).astype(np.uint32)

    def sources(self) -> tuple[Bits, Bits]:
        return self._backend.getSrcA(0).data, self._backend.getSrcB(0).data


def both_formats(bench: Bench, style: str, fp32: bool) -> None:
    bench.alu(style, fp32=fp32)
    bench.config[1] = int(bench.config[1]) | FORMATS[style] << 21


def random_state(bench: Bench, random: np.random.Generator, style: str) -> None:
    bench.srca[0], bench.srcb[0] = (random_src(random, 1024, style).reshape(64, 16) for _ in range(2))
    if style == "bf16":
        bench.srca[0] &= 0x7F8FF
        bench.srcb[0] &= 0x7F8FF
    exponents = random.integers(120, 136, (1024, 16))
    bench.dst[:] = random.integers(0, 256, (1024, 16)) << 8 | exponents
    bench.dst[8::16] = random.integers(0, 1 << 16, bench.dst[8::16].shape)
    bench.valid[:] = 1


def compare(bench: Bench, peer: Peer, *words: int) -> None:
    peer.alu(bench)
    for each in words:
        peer.load(bench)
        bench.run(each)
        peer.run(each)
        wanted = np.where(bench.valid[:, None], bench.dst, 0)
        wrong = np.argwhere(peer.dst(bench.valid) != wanted)[:4]
        assert not wrong.size, [(tuple(k), hex(wanted[tuple(k)])) for k in wrong]
        for ours, theirs in zip((bench.srca[0], bench.srcb[0]), peer.sources(), strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("fp32", [False, True], ids=["dst16", "dst32"])
@pytest.mark.parametrize("style", ["bf16", "tf32"])
@pytest.mark.parametrize("opcode, bits", [(MVMUL, 0), (GAPOOL, 0), (ELWMUL, 1 << 21), (ELWMUL, 7 << 19)])
def test_products(opcode: int, bits: int, style: str, fp32: bool) -> None:
    bench, peer, random = Bench(), Peer(), np.random.default_rng(21)
    both_formats(bench, style, fp32)
    for k in range(12):
        random_state(bench, random, style)
        bench.rwc[0, 6] = k % 4
        compare(bench, peer, word(opcode, (8 * k, 0)) | bits)


@pytest.mark.parametrize("fp32", [False, True], ids=["dst16", "dst32"])
@pytest.mark.parametrize("style", ["bf16", "tf32"])
@pytest.mark.parametrize("bits", range(0, 8, 3))
@pytest.mark.parametrize("opcode", [ELWADD, ELWSUB])
def test_sums(opcode: int, bits: int, style: str, fp32: bool) -> None:
    bench, peer, random = Bench(), Peer(), np.random.default_rng(22)
    both_formats(bench, style, fp32)
    for k in range(8):
        random_state(bench, random, style)
        compare(bench, peer, word(opcode, (bits, 19), (8 * k, 0)))


@pytest.mark.parametrize("style, fp32", [("bf16", False), ("bf16", True), ("tf32", True), ("fp16", False)])
def test_maxima(style: str, fp32: bool) -> None:
    bench, peer, random = Bench(), Peer(), np.random.default_rng(24)
    both_formats(bench, style, fp32)
    for k in range(64):
        random_state(bench, random, style)
        bench.valid[8 * k :: 5] = 0
        compare(bench, peer, word(GMPOOL, (1, 19), (4 * k, 0)))


@pytest.mark.parametrize("style, fp32", [("bf16", False), ("bf16", True), ("tf32", True), ("fp16", False)])
def test_moves(style: str, fp32: bool) -> None:
    bench, peer, random = Bench(), Peer(), np.random.default_rng(25)
    both_formats(bench, style, fp32)
    forms = [(MOVA2D, 0), (MOVA2D, 2), (MOVB2D, 0), (MOVB2D, 2), (MOVB2D, 3), (MOVB2D, 4), (MOVD2A, 2), (MOVD2B, 2)]
    for k in range(8):
        random_state(bench, random, style)
        words = [word(opcode, (mod, 12), (8 * k, 0), (8 * k & 63, 17)) for opcode, mod in forms]
        compare(bench, peer, *words, word(TRNSPSRCB))
