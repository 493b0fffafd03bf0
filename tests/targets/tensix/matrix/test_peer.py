# SPDX-License-Identifier: Apache-2.0
"""The matrix unit agrees with wolfpine's, a Python model of the same machine, where both execute: a thousand operand
sets and more of each form (an operand set is an element of Dst with what it is computed from). docs/targets/
tensix-peer.md lists where both differ, and by which source; `test_disagreement` keeps to that."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.targets.tensix.matrix.bench import ELWADD, ELWMUL, ELWSUB, FORMATS, GAPOOL, GMPOOL, MVMUL, Bench, Bits, word
from tests.targets.tensix.matrix.test_arithmetic import random_src

pytestmark = pytest.mark.skipif(not find_spec("framework"), reason="wolfpine is not installed")
MOVA2D, MOVB2D, MOVD2A, MOVD2B, TRNSPSRCB = 0x12, 0x13, 0x08, 0x0A, 0x16
PEER = "framework.pe.tensix."


class Peer:
    """`clients` are who can have a bank of Src."""

    def __init__(self) -> None:
        self.backend: Any = importlib.import_module(PEER + "tensix").TensixCoProcessor(None).getBackend()
        self._constants: Any = importlib.import_module(PEER + "util").TensixConfigurationConstants
        self.clients: Any = importlib.import_module(PEER + "registers").SrcRegister.SrcClient
        self._unit: Any = self.backend.matrix_unit

    def alu(self, bench: Bench) -> None:
        for at in (1, 2):
            self.backend.config_unit.setConfig(0, at, int(bench.config[at]))

    def load(self, bench: Bench) -> None:
        for source, of in ((self.backend.getSrcA(0), bench.srca), (self.backend.getSrcB(0), bench.srcb)):
            source.data[:] = of[0]
            source.setAllowedClient(self.clients.MatrixUnit)
        dst = self.backend.getDst()
        dst.dstBits[:], dst.dstRowValid[:] = bench.dst, bench.valid
        self.backend.getRWC(0).FidelityPhase = int(bench.rwc[0, 6])

    def run(self, word: int) -> None:
        assert self.backend.issueInstruction(word, 0)
        self._unit.clock_tick(0)

    def dst(self, valid: Bits) -> Bits:
        return np.where(valid[:, None], self.backend.getDst().dstBits, 0).astype(np.uint32)

    def sources(self) -> tuple[Bits, Bits]:
        return self.backend.getSrcA(0).data, self.backend.getSrcB(0).data


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
@pytest.mark.parametrize("opcode, bits", [(MVMUL, 0), (GAPOOL, 0), *((ELWMUL, k << 19) for k in range(4, 8))])
def test_products(opcode: int, bits: int, style: str, fp32: bool) -> None:
    bench, peer, random = Bench(), Peer(), np.random.default_rng(21)
    both_formats(bench, style, fp32)
    for k in range(16):
        random_state(bench, random, style)
        bench.rwc[0, 6] = k % 4
        compare(bench, peer, word(opcode, (8 * k, 0)) | bits)


@pytest.mark.parametrize("fp32", [False, True], ids=["dst16", "dst32"])
@pytest.mark.parametrize("style", ["bf16", "tf32"])
@pytest.mark.parametrize("bits", range(8))
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
    one_row = [(MOVA2D, 0), (MOVB2D, 0), (MOVB2D, 1), (MOVD2A, 0), (MOVD2B, 0)]
    more = [(MOVA2D, 2), *((MOVB2D, mod) for mod in range(2, 8)), (MOVD2A, 2), (MOVD2B, 2)]
    for k in range(64):
        random_state(bench, random, style)
        forms = one_row if k % 4 else [*one_row, *more]
        words = [word(opcode, (mod, 12), (8 * k, 0), (8 * k & 63, 17)) for opcode, mod in forms]
        compare(bench, peer, *words, word(TRNSPSRCB))


DISAGREEMENTS = {
    "products of FP16": ("fp16", word(MVMUL)),
    "sums of FP16": ("fp16", word(ELWADD)),
    "products of INT8": ("int8", word(MVMUL)),
    "sums of INT8": ("int8", word(ELWADD, (1, 21))),
    "MVMUL with a broadcast row": ("bf16", word(MVMUL, (1, 19))),
    "GMPOOL with an index": ("bf16", word(GMPOOL, (1, 14))),
    "ZEROSRC to the least": ("bf16", word(0x11, (1, 0), (1, 4))),
}
"""What docs/targets/tensix-peer.md lists, and a word that shows it."""


@pytest.mark.parametrize("name", DISAGREEMENTS)
def test_disagreement(name: str) -> None:
    """Where wolfpine differs or fails: ours is held to the source in test_arithmetic.py and test_moves.py."""
    style, each = DISAGREEMENTS[name]
    bench, peer, random = Bench(), Peer(), np.random.default_rng(26)
    both_formats(bench, "bf16" if style == "int8" else style, style == "int8")
    if style == "int8":
        bench.alu("int8", int8=True)
    random_state(bench, random, style)
    with pytest.raises((AssertionError, AttributeError, NotImplementedError, OverflowError, ValueError)):
        compare(bench, peer, each)


def test_formats_of_blocks_are_taken_crosswise() -> None:
    """BFP8a, BFP4a and BFP2a are FP16 in Src, and BFP8, BFP4 and BFP2 are BF16: the instructions' pages."""
    random = np.random.default_rng(27)
    for name in ("bfp8", "bfp4", "bfp2", "bfp8a", "bfp4a", "bfp2a"):
        bench, peer = Bench(), Peer()
        both_formats(bench, name, False)
        random_state(bench, random, "fp16")
        with pytest.raises(AssertionError):
            compare(bench, peer, word(MOVA2D))


def test_movb2d_cuts_by_another_format() -> None:
    """Of SrcA as the page says; wolfpine takes SrcB's."""
    bench, peer, random = Bench(), Peer(), np.random.default_rng(28)
    bench.alu("tf32", fp32=True)
    bench.config[1] = int(bench.config[1]) | FORMATS["bf16"] << 21
    random_state(bench, random, "tf32")
    with pytest.raises(AssertionError):
        compare(bench, peer, word(MOVB2D))
