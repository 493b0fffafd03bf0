# SPDX-License-Identifier: Apache-2.0
"""Measured programs of the Tensix tile: a vector kernel, products of tiles, and programs of cores.

The kernel is 1 / (1 + exp(-|x|)), times exp(-|x|) where x is negative: range reduction by adding a constant, a
polynomial of degree 4, a first reciprocal by subtracting bit patterns, and two steps of Newton's method, as kernels of
the vendor's library do it (Muller 2016 for range reduction). It works on 32 values of BF16 and goes on to the next.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from polyloom.riscv.assemble import assemble as assemble_riscv
from polyloom.riscv.names import parse_isa
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.shape import Product
from polyloom.targets.tensix.map.loops.stream import Stream, place_stream, stream_threads
from polyloom.targets.tensix.map.loops.stream_movers import move_panels, read_columns
from polyloom.targets.tensix.map.loops.thread import assemble_thread
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words.arrays import tiles
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, END
from polyloom.targets.tensix.words.arrays.formats import FORMATS, dst_result_format
from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.dram_port import DramPort

Words = NDArray[np.uint32]
Core = Literal["b", "t0", "t1", "t2", "nc"]
_CORE: Final = parse_isa("rv32im")
_RESET: Final[dict[Core, int]] = {"b": 0, "t0": 0x6000, "t1": 0xA000, "t2": 0xE000, "nc": 0x12000}

SIGMOID_CONSTANTS: Final = """
SFPLOADI L0, 0x4b40, 0         ; 3 * 2**22: what is added to it is rounded to an integer
SFPCONFIG 12, 0, 0
SFPLOADI L0, 0xaa3b, 2         ; log2 e
SFPLOADI L0, 0x3fb8, 8
SFPCONFIG 13, 0, 0
SFPLOADI L0, 0x11c7, 2         ; less the pattern of a value, about the pattern of its reciprocal
SFPLOADI L0, 0x7ef3, 8
SFPCONFIG 14, 0, 0
SFPENCC 3, 10
"""
SIGMOID: Final = """
SFPLOAD L0, 0, 2, 3
SFPSETSGN L1, L0, 1, 1
SFPLOADI L2, 0xc2fa, 0         ; -125, below which the power would have no exponent
SFPMUL L1, L1, L13, L9, 0
SFPLOADI L5, 0xcb40, 0
SFPSWAP L2, L1, 1
SFPNOP
SFPADD L3, L10, L1, L12, 0
SFPLOADI L6, 0x3c1e, 0
SFPADD L4, L10, L3, L5, 0
SFPLOADI L7, 0x3d64, 0
SFPMAD L1, L11, L4, L1, 0
SFPSHFT L3, L3, 23, 1
SFPMAD L6, L6, L1, L7, 0
SFPLOADI L7, 0x3e76, 0
SFPMAD L6, L6, L1, L7, 0
SFPLOADI L7, 0x3f31, 0
SFPMAD L6, L6, L1, L7, 0
SFPNOP
SFPMAD L6, L6, L1, L10, 0
SFPNOP
SFPIADD L6, L3, 0, 4           ; exp(-|x|)
SFPADD L5, L10, L6, L10, 0
SFPLOADI L7, 0x4000, 0
SFPMOV L4, L5, 0
SFPIADD L4, L14, 0, 6
SFPSETSGN L5, L5, 1, 1
SFPMAD L3, L5, L4, L7, 0
SFPNOP
SFPMUL L4, L4, L3, L9, 0
SFPNOP
SFPMAD L3, L5, L4, L7, 0
SFPNOP
SFPMUL L4, L4, L3, L9, 0
SFPSETCC L0, 0, 0
SFPMUL L4, L4, L6, L9, 0
SFPENCC 3, 10
SFPSTORE L4, 0, 2, 3
INCRWC 0, 2, 0, 0
"""

INTEGERS: Final = """on: addi a0, a0, 1
add a1, a1, a0
xor a2, a1, a0
slli a3, a2, 3
srli a4, a3, 2
or a5, a4, a3
addi a6, a6, 7
j on"""

_A, _B, _BF16 = 0x20000, 0x30000, 5
_COUNTERS: Final = f"""
SETADCXX CntSetMask=1, x_end2=1023, x_start=0
SETADCXX CntSetMask=2, x_end2=1023, x_start=0
SETC16 3, 4
SETC16 7, {8 << 8}
SETC16 9, {24 << 8}
SETC16 11, {24 << 8 | 16}
SETC16 13, {40 << 8 | 16}
"""
UNPACK: Final = "".join(f"UNPACR Unpack_block_selection={n}, SetDatValid=1, Last=1\n" for n in range(2))


def words(text: str) -> Words:
    return np.array([int(word) for word in assemble(text).words], np.uint32)


def place(tile: Tile, core: Core, text: str) -> None:
    """RV32IM text, or words of it, at the core's reset address, which it then leaves."""
    base = _RESET[core]
    code = np.frombuffer(assemble_riscv(text, _CORE, base).data, np.uint8)
    tile.l1[base : base + len(code)] = code
    tile.release(core)


def pushes(text: str) -> str:
    """A core's endless loop that pushes Tensix words, each as an instruction of its own."""
    # A core takes words of the coprocessor in its code, rotated, where they are no instructions of its own
    # (riscv/backend/push.py).
    rotated = [word << 2 & 0xFFFFFFFF | word >> 30 for word in words(text).tolist()]
    return "\n".join(["on:", *(f".word {word:#x}" for word in rotated), "j on"])


def phases(count: int) -> str:
    """A tile product of `count` fidelity phases from the replay buffer, and both banks given back."""
    return "REPLAY 0, 16, 0, 0\n" * count + "SETRWC 3, 0, 0, 0, 0, 15\n"


def product_recording() -> str:
    """The 16 MVMULs of a phase: for each inner face and each face of SrcA, the four halves of SrcB's faces."""
    lines = ["REPLAY 0, 16, 0, 1"]
    # The four faces of a tile; a phase of lower fidelity passes over them again.
    for column in (0, 1, 0, 1):
        for step, mode in enumerate((0, 1, 0, 3 if column else 2)):
            row = 16 * column + 8 * (step & 1) + 32 * (step >> 1)
            lines.append(f"MVMUL addr_mode={mode}, dst={row}")
    return "\n".join(lines) + "\n"


def product_tile() -> Tile:
    """A tile set up for products of tiles of BF16 in L1."""
    made = Tile()
    config = made.config[0]
    config[1] = _BF16 << 17 | _BF16 << 25
    for at, base in ((52, _B), (92, _A)):
        config[at : at + 3] = _BF16 | 1 << 4 | 1024 << 16, 1 | 1 << 16, 1
        config[at + 8], config[at + 12] = _BF16 | 2 << 4, base // 16 - 1
    config[40] = int(config[40]) | 128 << 16  # SrcA starts four rows in
    for thread in range(2):
        made.push(thread, words(_COUNTERS))
    made.run(1000)
    return made


def run_streamed_product(left: NDArray[np.float32], right: NDArray[np.float32]) -> int:
    """Cycles of a product in bf16 at fidelity 2 on one tile, with its arrays in DRAM behind it. Raises AssertionError
    where the result is not NumPy's.
    """
    counts = (len(left) // tiles.SIDE, right.shape[1] // tiles.SIDE, len(right) // tiles.SIDE)
    s = place_stream(Product(*counts, 0, 0, 0, FORMATS["bf16"], dst_result_format("bf16", 32), 32, 2), DATA, END)
    assert s is not None
    tile, encode = Tile(port=DramPort(s.result + s.columns * s.block_bytes)), s.product.format.encode
    high = s.panel_rows * tiles.SIDE
    for n in range(len(left) // high):
        _write(tile, s.left + n * s.panel_tiles * s.factor_pitch, encode(left[n * high : (n + 1) * high]))
    for n in range(counts[1]):
        _write(
            tile,
            s.right + n * s.column_tiles * s.factor_pitch,
            encode(right[:, n * tiles.SIDE : (n + 1) * tiles.SIDE]),
        )
    # B and NC follow the threads, as on a tile of a grid.
    code, starts, _ = assemble_parts([stream_threads(s)], 0)
    for core, lines in (("b", move_panels(s)), ("nc", read_columns(s))):
        starts[core] = len(code)
        code += assemble_thread([lines], CODE + len(code))[0]
    tile.l1[CODE : CODE + len(code)] = np.frombuffer(code, np.uint8)
    for core, at in starts.items():
        tile.release(core, CODE + at)
    cycles = tile.run().cycles
    assert np.array_equal(_read(tile, s), left @ right)
    return cycles


def _write(tile: Tile, at: int, datums: NDArray[np.generic]) -> None:
    data = tiles.tilize(datums, "columns")
    tile.dram[at : at + len(data)] = data


def _read(tile: Tile, s: Stream) -> NDArray[np.uint32]:
    high, size = s.panel_rows * tiles.SIDE, s.panel_rows * tiles.tile_pitch(4)
    blocks = [
        tiles.untilize(tile.dram[at : at + size], (high, tiles.SIDE), np.float32, "columns")
        for at in range(s.result, s.result + s.columns * s.block_bytes, s.block_bytes)
    ]
    across = s.product.columns
    return np.vstack([np.hstack(blocks[n : n + across]) for n in range(0, len(blocks), across)])
