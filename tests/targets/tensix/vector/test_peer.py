# SPDX-License-Identifier: Apache-2.0
"""Every form of instruction that wolfpine executes, on 32 words of 32 lanes of operands each, under flags: the same
registers, flags and Dst, but for the disagreements listed in docs/targets/tensix-peer.md, which are kept to here."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.targets.tensix.vector.peer import Peer
from tests.targets.tensix.vector.words import (
    ABS,
    ADD,
    ADDI,
    AND,
    ARECIP,
    CAST,
    COMPC,
    CONFIG,
    DIVP2,
    ENCC,
    EXEXP,
    EXMAN,
    GT,
    IADD,
    LE,
    LOAD,
    LOADI,
    LUT,
    LUTFP32,
    MAD,
    MOV,
    MUL,
    MUL24,
    MULI,
    NOT,
    OR,
    POPC,
    PUSHC,
    SETCC,
    SETEXP,
    SETMAN,
    SETSGN,
    SHFT,
    SHFT2,
    STOCHRND,
    STORE,
    SWAP,
    TRANSP,
    XOR,
    immediate,
    load,
    mad,
    patterns,
    simple,
)  # fmt: skip

from polyloom._native import tensix

WORDS = 32
"""Times 32 lanes: 1,024 sets of operands for a form."""


def _wormhole() -> Iterator[tuple[str, int]]:
    for name, op in {"mad": MAD, "add": ADD, "mul": MUL}.items():
        yield name, mad(op, 0, 1, 2, 3)
        yield f"{name} constants", mad(op, 10, 1, 9, 0)
        yield f"{name} programmable", mad(op, 0, 12, 11, 0)
        yield f"{name} indirect A", mad(op, 0, 1, 2, 3, 4)
        yield f"{name} indirect D", mad(op, 0, 1, 2, 3, 8)
    for k in (0x3F80, 0xC0A1, 0x0001, 0x7F80):
        yield f"muli {k:04x}", immediate(MULI, k, 2)
        yield f"addi {k:04x}", immediate(ADDI, k, 2)
    yield "muli indirect", immediate(MULI, 0x4049, 2, 8)
    for k in (0, 1, 7, 0x80, 0xFF):
        yield f"divp2 set {k}", simple(DIVP2, 1, 2, 0, k)
        yield f"divp2 add {k}", simple(DIVP2, 1, 2, 1, k)
        yield f"setexp {k}", simple(SETEXP, 1, 2, 1, k)
    for mode in (0, 1, 2, 3, 8, 9, 10, 11):
        yield f"exexp {mode}", simple(EXEXP, 1, 2, mode)
    for mode in (0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14):
        yield f"iadd {mode}", simple(IADD, 1, 2, mode, 0x7FF)
        yield f"iadd {mode} negative", simple(IADD, 1, 2, mode, 0x801)
    for amount in (0, 1, 31, 32, 0xFFF, 0xFE1, 0x801):
        yield f"shft {amount}", simple(SHFT, 1, 2, 1, amount)
    yield "shft by register", simple(SHFT, 1, 2)
    for mode in (0, 2, 4, 6, 8):
        yield f"setcc {mode}", simple(SETCC, 1, 0, mode)
    yield "setcc 1, 0", simple(SETCC, 1, 0, 1, 0)
    yield "setcc 1, 1", simple(SETCC, 1, 0, 1, 1)
    for mode in (0, 1, 2):
        yield f"mov {mode}", simple(MOV, 1, 2, mode)
    yield "mov constant", simple(MOV, 15, 2)
    for name, op in {"and": AND, "or": OR, "xor": XOR, "not": NOT, "setexp": SETEXP}.items():
        yield name, simple(op, 1, 2)
    for mode in (0, 1):
        yield f"abs {mode}", simple(ABS, 1, 2, mode)
        yield f"exman {mode}", simple(EXMAN, 1, 2, mode)
        yield f"setman {mode}", simple(SETMAN, 1, 2, mode, 0xABC)
        yield f"setsgn {mode}", simple(SETSGN, 1, 2, mode, 1)
    yield "setexp from exponent", simple(SETEXP, 1, 2, 2)
    yield "setsgn 1, 0", simple(SETSGN, 1, 2, 1, 0)
    yield "cast", simple(CAST, 1, 2)
    for mode in range(10):
        yield f"swap {mode}", simple(SWAP, 1, 2, mode)
    yield "swap with a constant", simple(SWAP, 9, 2, 1)
    yield "transp", simple(TRANSP)
    yield "shft2 rotate", mad(SHFT2, 0, 0, 1, 2, 3)
    yield "shft2 by register", mad(SHFT2, 0, 3, 1, 2, 5)
    for mode in (0, 1, 2, 3, 6, 7):
        yield f"stoch_rnd {mode}", mad(STOCHRND, 0, 0, 1, 2, mode)
    for mode in (4, 5):
        yield f"stoch_rnd {mode} by register", mad(STOCHRND, 0, 3, 1, 2, mode)
        for amount in (0, 1, 7, 31):
            yield f"stoch_rnd {mode} by {amount}", mad(STOCHRND, amount, 0, 1, 2, mode | 8)
    for mode in (0, 4, 8, 12):
        yield f"lut {mode}", load(LUT, 4, mode, 0)
    for mode in (0, 2, 3, 4, 6, 7, 8, 10, 14):
        yield f"lutfp32 {mode}", simple(LUTFP32, 0, 2, mode)
    for mode in (0, 1, 2, 4, 8, 10):
        yield f"loadi {mode}", load(LOADI, 2, mode, 0) | 0xC123
    for low in (0, 2, 8, 62):
        for mode in (1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15):
            yield f"load {mode} {low}", load(LOAD, 2, mode, low)
        for mode in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15):
            yield f"store {mode} {low}", load(STORE, 2, mode, low)
    for k in (0, 1, 2, 3):
        for mode in (0, 1, 2, 3, 8, 9, 10, 11):
            yield f"encc {k} {mode}", simple(ENCC, 0, 0, mode, k)
    yield "config 11", immediate(CONFIG, 0, 11)
    yield "config 13", immediate(CONFIG, 0, 13, 1)


def _blackhole() -> Iterator[tuple[str, int]]:
    for mode in (0, 1, 2, 3, 4, 7):
        yield f"mad {mode}", mad(MAD, 0, 1, 2, 3, mode)
    for mode in (0, 1, 2, 3, 5, 7):
        yield f"shft {mode}", simple(SHFT, 1, 2, mode, 0xFF9)
    for mode in (0, 3):
        yield f"cast {mode}", simple(CAST, 1, 2, mode)
    for mode in (1, 8):
        yield f"gt {mode}", simple(GT, 1, 2, mode)
        yield f"le {mode}", simple(LE, 1, 2, mode)
    yield "mul24", mad(MUL24, 0, 1, 9, 3)
    yield "arecip", simple(ARECIP, 1, 2)
    yield "shft2 shift", mad(SHFT2, 0, 0, 1, 2, 4)
    for mode in (0, 1, 2, 3, 6, 7):
        yield f"stoch_rnd {mode} toward zero", mad(STOCHRND, 0, 0, 1, 2, mode) | 2 << 21


DISAGREEMENTS = {
    "add": "takes VA for 1.0, whatever it names",
    "add programmable": "takes VA for 1.0, whatever it names",
    "add indirect D": "goes on with the last lane's VD",
    "mul": "takes VC for 0, whatever it names",
    "mul programmable": "takes VC for 0, whatever it names",
    "mul indirect A": "takes VC for 0, whatever it names",
    "mul indirect D": "takes VC for 0, whatever it names",
    "mad indirect D": "goes on with the last lane's VD",
    "muli indirect": "goes on with the last lane's VD",
    **{f"iadd {k}{sign}": "sets flags with bits 2 and 3" for k in (12, 13, 14) for sign in ("", " negative")},
    **{f"load {k} {low}": "fails" for k in (12, 13) for low in (0, 2, 8, 62)},
    **{f"store 13 {low}": "fails" for low in (0, 2, 8, 62)},
}
"""What wolfpine does where ours is by the sheet; test_forms.py has these forms against twins."""

FORMS = [(name, word, False) for name, word in _wormhole()] + [
    (f"bh {name}", word, True) for name, word in _blackhole()
]


@pytest.fixture(scope="module")
def peers() -> Iterator[dict[bool, Peer]]:
    pytest.importorskip("framework.pe.tensix.tensix", reason="wolfpine is not installed")
    made = {blackhole: Peer(blackhole) for blackhole in (True, False)}
    yield made
    made[False].close()


@pytest.mark.parametrize(("name", "word", "blackhole"), FORMS, ids=[name for name, _, _ in FORMS])
def test_form(name: str, word: int, blackhole: bool, peers: dict[bool, Peer]) -> None:
    random = np.random.default_rng(word)
    ours, peer, unlike = tensix.VectorBench(blackhole), peers[blackhole], 0
    for k in range(WORDS):
        registers, dst = patterns(random, (8, 32)), random.integers(0, 1 << 16, (1024, 16), np.uint16)
        flags = (int(random.integers(0, 1 << 32)), (0, 0xFFFFFFFF)[k % 4 > 0])
        ours.registers[:8], ours.dst[:], ours.flags = registers, dst, flags
        peer.load(ours.registers, flags, dst)
        assert ours.run(np.array([word], np.uint32)) == []
        if name in DISAGREEMENTS:
            unlike += disagrees(ours, peer, word)
            continue
        peer.run(word)
        assert hexed(ours.registers[:8]) == hexed(peer.registers)
        assert ours.flags == peer.flags
        assert (ours.dst == peer.dst).all()
    assert (name in DISAGREEMENTS) == (unlike > 0)


def disagrees(ours: tensix.VectorBench, peer: Peer, word: int) -> bool:
    try:
        peer.run(word)
    except (AttributeError, TypeError):
        return True
    same = (ours.registers[:8] == peer.registers).all() and (ours.dst == peer.dst).all()
    return not same or ours.flags != peer.flags


STACK = [simple(PUSHC), simple(POPC), simple(COMPC), *(simple(POPC, 0, 0, k) for k in range(1, 16) if k != 14)]
"""Without mode 14, after which wolfpine's two sorts of flags are one list."""
NARROWING = [simple(SETCC, k % 8, 0, mode) for k, mode in enumerate((0, 2, 4, 6, 0, 2, 4, 6))]


def test_flags_and_their_stack(peers: dict[bool, Peer]) -> None:
    """1,280 instructions in sequences that neither overflow nor empty the stack."""
    random = np.random.default_rng(5)
    ours, peer = tensix.VectorBench(), peers[False]
    zero = np.zeros((1024, 16), np.uint16)
    for _ in range(40):
        ours.registers[:8] = patterns(random, (8, 32))
        ours.flags = (0xFFFFFFFF, 0xFFFFFFFF)
        peer.load(ours.registers, ours.flags, zero)
        for _ in range(32):
            allowed = [w for w in STACK if (w != STACK[0] or ours.depth < 7) and (w != STACK[1] or ours.depth)]
            word = int(random.choice([*allowed, *NARROWING]))
            assert ours.run(np.array([word], np.uint32)) == []
            peer.run(word)
            assert ours.flags == peer.flags, f"{word:08x}"
        for _ in range(ours.depth):
            ours.run(np.array([simple(POPC)], np.uint32))
            peer.run(simple(POPC))


def hexed(lanes: np.ndarray[tuple[int, ...], np.dtype[np.uint32]]) -> list[list[str]]:
    return [[f"{int(v):08x}" for v in row] for row in lanes]
