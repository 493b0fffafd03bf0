# SPDX-License-Identifier: Apache-2.0
"""What a MOP expands to where the file configures it: as the tile expands it, and hazards inside of it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.targets.tensix.table.conftest import Call, link

from polyloom.riscv.assemble import assemble as assemble_riscv
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.mop import attach_mop_configuration, expand_mop
from polyloom.targets.tensix.words.program import CORE, Item

NOP, REPEATED = 0x02000000, 36
CONFIGURE = """#include "tensix_wormhole.h"
#define MOP ((volatile unsigned *)TENSIX_MOP_CONFIG)
int main(void) {{
    MOP[0] = 2, MOP[1] = 3, MOP[2] = MOP[3] = MOP[4] = TT_OP_NOP();
    MOP[5] = TT_OP_SFPMUL(0, 0, 9, 1, 0), MOP[6] = {0}, MOP[7] = MOP[8] = TT_OP_SFPNOP();
    TTI_MOP(1, 0, 0);
    return 0;
}}"""


def items(text: str) -> list[Item]:
    """RV32IM text, in which a `.word` may be a Tensix word as a core fetches it."""
    data = assemble_riscv(text, CORE, 0x100).data
    found: list[Item] = []
    for at in range(0, len(data), 4):
        word = int.from_bytes(data[at : at + 4], "little")
        tensix = word & 3 != 3
        found.append(Item(0x100 + at, (word >> 2 | word << 30) & 0xFFFFFFFF if tensix else word, tensix))
    return found


@pytest.mark.parametrize("seed", range(80))
def test_expansions_are_those_of_the_tile(seed: int) -> None:
    """Words that count themselves: the k-th slot increments a counter by an amount of its own."""
    rng = random.Random(seed)
    loops, mask = seed % 2, rng.getrandbits(32)
    config = [rng.choice((NOP, 0x38000000 | rng.randrange(1, 16) << rng.choice((6, 10, 14)))) for _ in range(9)]
    if loops:
        config[0], config[1] = rng.randrange(0, REPEATED), rng.randrange(0, REPEATED)
    else:
        config[1] = rng.randrange(4)
    count = rng.randrange(1, 33)
    word = 0x01800000 if loops else 0x01000000 | count - 1 << 16 | mask & 0xFFFF
    mop = decode(word)
    assert mop is not None
    tile = Tile()
    tile.mop_config[1] = config
    tile.push("t1", [0x03000000 | mask >> 16, word])
    tile.run(1_000_000)
    words = expand_mop(mop, tuple(config), mask >> 16)
    bug = loops and config[0] == 1 and config[1] == 0 and config[2] == NOP and config[3] != NOP
    assert words is not None
    if not bug:
        assert tile.threads()[1][1] == len(words)
        moved = [w for w in words if w >> 24 == 0x38]
        counters = [sum(w >> shift & 15 for w in moved) for shift in (6, 10, 14)]
        assert list(tile.rwc[1][[0, 2, 4]] % 64) == [n % 64 for n in counters]


def test_what_is_not_known_is_no_expansion() -> None:
    loop, unpack, long = decode(0x01800000), decode(0x01000000), decode(0x01000000 | 20 << 16)
    assert loop is not None and unpack is not None and long is not None
    known: tuple[int | None, ...] = (1, 0, NOP, NOP, NOP, NOP, NOP, NOP, NOP)
    assert expand_mop(loop, known, None) == [] and expand_mop(loop, (None, *known[1:]), None) is None
    assert expand_mop(unpack, known, None) == [NOP] and expand_mop(long, known, None) is None
    assert expand_mop(long, known, 0) == [NOP] * 21
    assert expand_mop(unpack, (*known[:3], None, *known[4:]), 0) is None


def test_constants_reach_the_expander() -> None:
    text = """
        lui a0, 0xffb80
        lui a1, 0x2000
        sw a1, 0(a0)
        addi a2, a0, 16
        addi a1, zero, -3
        sw a1, 4(a2)
        .word 0x04000000
    """
    (at,) = [item for item in attach_mop_configuration(items(text), {}) if item.is_tensix]
    assert at.mop == (0x02000000, None, None, None, None, 0xFFFFFFFD, None, None, None)


def test_what_a_slot_has_where_something_jumps_to() -> None:
    """One value stays; of several only the last before a jump is known."""
    text = """
        lui a0, 0xffb80
        addi a1, zero, 1
        sw a1, 0(a0)
        sw a1, 4(a0)
        addi a1, zero, 2
        sw a1, 4(a0)
        .word 0x04000000
        beq a2, a3, on
        .word 0x04000000
        lw a1, 0(a4)
        sw a1, 8(a0)
        .word 0x04000000
        on: .word 0x04000000
        j back
        lui a0, 0xffb80
        addi a1, zero, 7
        sw a1, 8(a0)
        back: .word 0x04000000
    """
    found = [item.mop for item in attach_mop_configuration(items(text), {}) if item.is_tensix]
    assert [slots and slots[:3] for slots in found] == [
        (1, 2, None), (1, 2, None), (1, 2, None), (1, None, None), (1, None, None),
    ]  # fmt: skip
    assert all(item.mop is None for item in attach_mop_configuration(items(".word 0x04000000"), {}))


def test_a_hazard_in_an_expansion(call: Call, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    link("t1", CONFIGURE.format("TT_OP_SFPADD(10, 1, 9, 2, 0)"))
    status, _, err = call("verify", "fw.elf", "--on", "tensix")
    lines = [
        line.split(" at 0x")[0] + line.partition(" at 0x")[2][4:] for line in err.replace("fw.elf: ", "").splitlines()
    ]
    golden("mop", f"exit {status}\n" + "\n".join(lines))
    link("t1", CONFIGURE.format("TT_OP_SFPADD(10, 3, 9, 2, 0)"))
    assert call("verify", "fw.elf", "--on", "tensix")[0] == 0


def test_a_hazard_from_one_repetition_to_the_next(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L1 is written by the last word of a repetition, and read by the first of the next."""
    monkeypatch.chdir(tmp_path)
    link("t1", CONFIGURE.format("TT_OP_NOP()").replace("SFPMUL(0, 0, 9, 1, 0)", "SFPMUL(1, 0, 9, 1, 0)"))
    status, _, err = call("verify", "fw.elf", "--on", "tensix")
    assert status == 1 and err.count("read-too-early: SFPMUL, to which the MOP") == 1
