# SPDX-License-Identifier: Apache-2.0
"""Times of the five cores, by programs on core B or T0. Source: the public page of the cores."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.targets.tensix.tile.tools import alone, place
from tests.targets.tensix.time.row import Row, held, plain

from polyloom.targets.tensix import python as tensix

PAGE: Final = "page of the cores"
L1, LOCAL, RESET = "lui s0, 0x20\n", "lui s0, 0xffb00\n", "lui s0, 0xffb12\n"
PLACES: Final = {
    "local memory": (LOCAL, 0, 2),
    "a mailbox's state": ("lui s0, 0xffec0\n", 4, 3),
    "GPRs of the scalar unit": ("lui s0, 0xffe00\n", 0, 4),
    "the configuration": ("lui s0, 0xffef0\n", 0, 4),
    "the reset register": (RESET, 0x1B0, 7),
    "L1": (L1, 0, 8),
}
"""Where a load goes: what sets s0, the offset, the latency."""
INTEGER: Final = {
    "an integer instruction": ("add a0, a1, a2", "", 1),
    "`mul`": ("mul a0, a1, a2", "", 2),
    "`div` by 0": ("div a0, a1, zero", "", 2),
    "`divu` by 1": ("divu a0, a1, a2", "li a2, 1\n", 2),
    "`div` of -2^31 by -1": ("div a0, a1, a2", "lui a1, 0x80000\nli a2, -1\n", 2),
    "`divu` of 0 by 3": ("divu a0, a1, a2", "li a2, 3\n", 6),
    "`divu` of 15 by 3": ("divu a0, a1, a2", "li a1, 15\nli a2, 3\n", 10),
    "`divu` of 2^32 - 1 by 3": ("divu a0, a1, a2", "li a1, -1\nli a2, 3\n", 33),
    "`rem` of -15 by 3": ("rem a0, a1, a2", "li a1, -15\nli a2, 3\n", 10),
    "a branch as predicted: forward, not taken": ("bne zero, zero, on\non:", "", 1),
    "a branch predicted wrongly: forward, taken": ("beq zero, zero, on\non:", "", 3),
    "`jal`": ("j on\non:", "", 1),
}
"""What is measured, what sets it up, its cycles until the next instruction."""


BACKWARD: Final = "on: addi a0, a0, -1\nbne a0, zero, on"
LAST: Final = "auipc t0, 0\non: addi a0, a0, -1\nbeq a0, zero, out\njalr zero, 4(t0)\nout:"


def cost(text: str, setup: str = "", core: str = "b") -> int:
    return alone(f"{setup}{text}\n", core)[1] - alone(setup, core)[1]


def repeated(text: str) -> int:
    """Cycles that one more pass of a loop takes."""
    return cost(text, "li a0, 7\n") - cost(text, "li a0, 6\n")


def latency(setup: str, offset: int) -> int:
    """From a load to an instruction that reads its register."""
    return cost(f"lw a0, {offset}(s0)\naddi a0, a0, 1", setup) - 1


def loads(setup: str, offset: int, count: int, step: int) -> int:
    """Cycles of so many further loads behind twelve."""
    text = [f"lw a{n % 8}, {offset + step * (n % 12)}(s0)\n" for n in range(12 + count)]
    return cost("".join(text), setup) - cost("".join(text[:12]), setup)


def stores(setup: str, count: int, core: str = "b") -> int:
    """Cycles of so many further stores behind twenty."""
    text = [f"sw zero, {4 * n}(s0)\n" for n in range(20 + count)]
    return cost("".join(text), setup, core) - cost("".join(text[:20]), setup, core)


def waited(offset: int) -> int:
    """Cycles that core T0 loses to core B, where both load lines of L1 again and again."""

    def took(at: int) -> int:
        tile = tensix.Tile()
        for core, place_of in (("b", 0), ("t0", at)):
            place(tile, core, "lui s0, 0x20\n" + f"lw a0, {place_of}(s0)\n" * 20 + "ebreak")
        return tile.run(1000).cycles

    return took(offset) - took(16)


def pushed() -> int:
    """Cycles of a further push of a Tensix word, by a store and in the stream of instructions."""
    setup = "lui s0, 0xffe40\nlui a0, 0x2000\n"
    stored = cost("sw a0, 0(s0)\n" * 20, setup, "t0") - cost("sw a0, 0(s0)\n" * 10, setup, "t0")
    inline = cost(".word 0x08000000\n" * 20, "", "t0") - cost(".word 0x08000000\n" * 10, "", "t0")
    assert stored == inline
    return stored // 10


def mailbox() -> int:
    """Words that fit into a mailbox until its writer stands still."""
    tile = tensix.Tile()
    place(tile, "b", "lui s0, 0xffec1\n" + "sw s0, 0(s0)\n" * 30 + "ebreak")
    tile.run(1000, check=False)
    return tile.native.pc(0) // 4 - 1


def pcbuf() -> int:
    tile = tensix.Tile()
    place(tile, "b", "lui s0, 0xffe80\n" + "sw s0, 0(s0)\n" * 30 + "ebreak")
    tile.run(1000, check=False)
    return tile.native.pc(0) // 4 - 1


def rows() -> list[Row]:
    found = [
        Row("Cores", what, n, PAGE, plain(partial(cost, text, setup))) for what, (text, setup, n) in INTEGER.items()
    ]
    found += [
        Row(
            "Cores",
            f"a load from {name} to a use of its register",
            n,
            PAGE,
            held(partial(latency, setup, offset)),
            "waits",
        )
        for name, (setup, offset, n) in PLACES.items()
    ]
    found += [
        Row("Cores", "a pass of a loop of `addi` and `bne` backward", 2, PAGE, plain(partial(repeated, BACKWARD))),
        Row(
            "Cores",
            "a pass of a loop of `addi`, `beq`, and `jalr` to its last target",
            3,
            PAGE,
            plain(partial(repeated, LAST)),
        ),
        Row("Cores", "four further loads from L1", 7, PAGE, plain(partial(loads, L1, 0, 4, 16))),
        Row("Cores", "four further loads from a debug register", 6, PAGE, plain(partial(loads, RESET, 0x1B0, 4, 0))),
        Row(
            "Cores",
            "four further loads from GPRs",
            4,
            PAGE,
            plain(partial(loads, PLACES["GPRs of the scalar unit"][0], 0, 4, 4)),
        ),
        Row("Cores", "four further loads from local memory", 4, PAGE, plain(partial(loads, LOCAL, 0, 4, 4))),
        Row("Cores", "a further store to L1", 5, PAGE, plain(lambda: stores(L1, 4) // 4)),
        Row("Cores", "a further store to local memory", 1, PAGE, plain(lambda: stores(LOCAL, 4) // 4)),
        Row("Cores", "a further store to GPRs", 1, PAGE, plain(lambda: stores("lui s0, 0xffe00\n", 4) // 4)),
        Row("Cores", "a further push of a Tensix word", 1, PAGE, plain(pushed)),
        Row("Cores", "words in a mailbox", 4, "page of mailboxes", plain(mailbox), unit="words"),
        Row("Cores", "words in a PCBuf", 16, "page of PCBufs", plain(pcbuf), unit="words"),
    ]
    return found
