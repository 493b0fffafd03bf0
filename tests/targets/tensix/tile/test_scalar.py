# SPDX-License-Identifier: Apache-2.0
"""The scalar unit: arithmetic, L1, atomics, configuration by GPR; and how long each takes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tests.targets.tensix.tile.tools import cycles, place, run, words

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

ALU = {"ADDDMAREG": 0, "SUBDMAREG": 0, "MULDMAREG": 0, "BITWOPDMAREG": 3, "SHIFTDMAREG": 2, "CMPDMAREG": 3}


def expected(name: str, mode: int, a: int, b: int) -> int:
    match name:
        case "ADDDMAREG":
            return (a + b) % 2**32
        case "SUBDMAREG":
            return (a - b) % 2**32
        case "MULDMAREG":
            return (a & 0xFFFF) * (b & 0xFFFF)
        case "BITWOPDMAREG":
            return (a & b, a | b, a ^ b)[mode]
        case "SHIFTDMAREG":
            return (a << (b & 31)) % 2**32 if mode == 0 else a >> (b & 31)
        case _:
            return int((a > b, a < b, a == b)[mode])


@pytest.mark.parametrize("name", ALU)
def test_arithmetic(name: str) -> None:
    rng = random.Random(name)
    tile = tensix.Tile()
    for _ in range(300):
        a, b = rng.choice([0, 1, 2**31, 2**32 - 1, rng.getrandbits(32)]), rng.choice([0, 1, 31, rng.getrandbits(32)])
        mode, constant = rng.randrange(max(1, ALU[name])), rng.randrange(2)
        b = b % 64 if constant else b
        tile.gpr[1, 5], tile.gpr[1, 9] = a, b
        fields = f"OpBisConst={constant}, ResultRegIndex=33, OpBRegIndex={b if constant else 9}, OpARegIndex=5"
        tile.push("t1", words(f"{name} {fields}" + (f", OpSel={mode}" if ALU[name] else "")))
        tile.run()
        assert tile.gpr[1, 33] == expected(name, mode, a, b)


def test_setdmareg_writes_a_half() -> None:
    tile, outcome = run("SETDMAREG 0, 0x1234, 0, 6\nSETDMAREG 1, 0x1678, 0, 7")
    assert tile.gpr[0, 3] == 0x56781234 and outcome.cycles == 3 + 2


@pytest.mark.parametrize(
    ("text", "busy"),
    [
        ("SETDMAREG 0, 1, 0, 0", 1),
        ("DMANOP", 1),
        ("ADDDMAREG 1, 8, 3, 4", 3),
        ("ADDDMAREG 0, 8, 5, 4", 3),
        ("ADDDMAREG 0, 8, 3, 4", 4),
        ("REG2FLOP 1, 0, 0, 0, 0, 0", 2),
        ("FLUSHDMA 0", 2),
        ("STOREIND 1, 0, 1, 2, 0, 4, 0", 3),
        ("ATSWAP 0, 255, 4, 0", 3),
    ],
)
def test_the_unit_is_busy(text: str, busy: int) -> None:
    assert cycles(f"{text}\nSETDMAREG 0, 0, 0, 100") == 3 + busy + 1


def test_a_thread_waits_for_its_own_scalar_instruction_and_others_go_on() -> None:
    tile = tensix.Tile()
    tile.push("t0", words("ADDDMAREG 1, 8, 3, 4\nSFPNOP"))
    tile.push("t1", words("SFPNOP\n" * 6))
    assert tile.run(100).cycles == 3 + 7  # the vector unit is never idle


def test_a_load_arrives_late_and_its_use_before_is_a_hazard() -> None:
    load = "SETDMAREG 0, 0x1000, 0, 0\nSETDMAREG 0, 16, 0, 2\nLOADIND 1, 2, 1, 8, 0\n"
    store = "STOREIND 1, 0, 1, 20, 0, 8, 0"

    def stored(between: str) -> int:
        tile = tensix.Tile(hazards="report")
        tile.l1[0x10010:0x10014] = [1, 2, 3, 4]
        tile.push("t0", words(load + between + store))
        outcome = tile.run(1000)
        assert [f.kind for f in outcome.hazards] in ([], ["gpr-before-load"])
        value = int.from_bytes(tile.l1[0x10000:0x10004].tobytes(), "little")
        assert (value == 0x04030201) == (not outcome.hazards)
        return value

    assert stored("") == 0
    assert stored("DMANOP\n" * 6) == 0
    assert stored("DMANOP\n" * 7) == 0x04030201
    assert stored("STALLWAIT 0x20, 0x1\n") == 0x04030201


@pytest.mark.parametrize(("size", "data"), [(0, 16), (1, 4), (2, 2), (3, 1)])
def test_loads_and_stores_of_each_size_step_their_offset(size: int, data: int) -> None:
    tile = tensix.Tile()
    tile.l1[:64] = range(64)
    tile.gpr[2, 4:8] = 0xAAAAAAAA
    tile.gpr[2, 9] = 16 << 16
    tile.push(
        "t2", words(f"LOADIND {size}, 19, 3, 4, 8\nSTALLWAIT 0x20, 1\nSTOREIND 1, {size >> 1}, {size & 1}, 19, 3, 4, 8")
    )
    tile.run(1000)
    assert tile.gpr[2, 9] == 48 << 16
    loaded = tile.gpr[2, 4:8].tobytes()
    assert loaded == bytes(range(16, 16 + data)) + b"\xaa" * (16 - data)
    assert tile.l1[32 : 32 + data].tobytes() == loaded[:data]


def test_atomics() -> None:
    tile = tensix.Tile()
    tile.l1[4:8] = [0xFF, 0, 0, 0]
    tile.gpr[0, 3] = 2
    tile.push("t0", words("ATINCGET 0, 7, 1, 3, 0\nSTALLWAIT 0x20, 1"))
    tile.run(1000)
    assert tile.gpr[0, 3] == 0xFF and tile.l1[4] == 1 and not tile.l1[5:8].any()
    tile.push("t0", words("ATCAS 0, 9, 1, 1, 0, 0"))
    tile.run(1000)
    assert tile.l1[4] == 9


def test_a_comparison_that_never_holds_is_a_deadlock() -> None:
    with pytest.raises(PolyloomError, match="in the scalar unit"):
        run("ATCAS 0, 9, 1, 1, 0, 0")


def test_a_fifo_in_l1_is_waited_for_in_the_unit() -> None:
    tile = tensix.Tile()
    tile.l1[0x20000:0x20008] = [0, 0, 0, 0, 4, 0, 0, 0]  # two pointers of three bits: four elements are in it
    tile.gpr[:, 0] = 0x2000
    tile.push("t0", words("ATINCGETPTR 0, 0, 0, 3, 1, 8, 0"))
    tile.push("t1", words("DMANOP\n" * 3))
    place(tile, "b", "lui s0, 0x20\nli a0, 1\n" + "nop\n" * 50 + "sw a0, 0(s0)\nebreak")
    tile.run(1000)
    assert (tile.l1[0x20000], tile.l1[0x20004]) == (1, 5) and tile.gpr[0, 8] == 4


def test_a_waiting_instruction_keeps_other_threads_out_of_the_unit() -> None:
    tile = tensix.Tile()
    tile.push("t0", words("ATCAS 0, 9, 1, 1, 0, 0"))
    tile.push("t1", words("NOP\nDMANOP"))
    with pytest.raises(PolyloomError, match=r"(?s)thread t0: .*thread t1: `[^`]*` waits in the scalar unit"):
        tile.run(1000)


def test_atswap_stores_the_halves_of_its_mask_and_reads_nothing_back() -> None:
    tile = tensix.Tile()
    tile.gpr[0, 4:8] = [0x22221111, 0x44443333, 0x66665555, 0x88887777]
    tile.l1[:16] = 9
    tile.push("t0", words("ATSWAP 0, 0x81, 4, 0"))
    tile.run(100)
    assert tile.l1[:16].tobytes() == b"\x11\x11" + b"\x09" * 12 + b"\x88\x88"
    assert tile.gpr[0, 4] == 0x22221111


def test_configuration_by_gpr_and_by_byte() -> None:
    tile = tensix.Tile()
    tile.gpr[0, 4:8] = [1, 2, 3, 4]
    tile.push("t0", words("WRCFG 5, 1, 9\nNOP\nRMWCIB1 0xF0, 0xAB, 10\nSETC16 5, 77\nWRCFG 7, 0, 160\nRDCFG 30, 10"))
    tile.run(100)
    assert tile.config[0, 8:12].tolist() == [1, 2, 0xA003, 4] and not tile.config[1, 8:12].any()
    assert tile.config[:, 160].tolist() == [4, 4]
    assert tile.thread_config[0, 5] == 77 and tile.thread_config[1, 5] == 0
    assert tile.gpr[0, 30] == 0xA003


def test_configuration_used_too_early_is_a_hazard() -> None:
    with pytest.raises(PolyloomError, match="config-too-early"):
        run("WRCFG 0, 0, 1\nSFPLOAD L0, 0, 0, 3")
    run("WRCFG 0, 0, 1\nNOP\nSFPLOAD L0, 0, 2, 3", hazards="report")


@pytest.mark.parametrize("text", ["XMOV 0, 1", "STOREIND 0, 0, 0, 0, 0, 0, 0", "SETDMAREG 0, 0, 1, 0"])
def test_what_is_not_modelled_faults_by_name(text: str) -> None:
    with pytest.raises(PolyloomError, match="not-modelled") as caught:
        run(text)
    assert caught.value.code == "PL1220"


_READ_BACK = "RDCFG 5, 160\nADDDMAREG 1, 6, 0, 5"


def test_wormhole_holds_the_thread_until_rdcfg_has_written_its_gpr() -> None:
    tile = tensix.Tile()
    tile.config[:, 160] = 9
    tile.push("t0", tensix.assemble(_READ_BACK).words)
    assert not tile.run(100).hazards and tile.gpr[0, 6] == 9


@pytest.mark.parametrize(("held", "level"), [(0, "wrong here"), (9, "at risk")])
def test_blackhole_does_not_and_the_level_says_whether_the_old_value_is_another(held: int, level: str) -> None:
    """Pages of RDCFG of both members: the issuing thread is held on the first only."""
    for policy in ("report", "wrong", "error"):
        tile = tensix.Tile("blackhole", policy)  # pyright: ignore[reportArgumentType]: a policy
        tile.config[:, 160] = 9
        tile.gpr[0, 5] = held
        tile.push("t0", tensix.assemble(_READ_BACK, member="blackhole").words)
        outcome = tile.run(100, check=False)
        assert [(f.kind, f.level) for f in outcome.hazards] == [("gpr-before-load", level)]
        assert (outcome.fault is not None) == (policy == "error" or (policy == "wrong" and level == "wrong here"))


@pytest.mark.parametrize(("old", "level"), [(1.0, "wrong here"), (4.0, "at risk")])
def test_levels_of_a_vector_register_that_is_read_too_early(old: float, level: str) -> None:
    tile = tensix.Tile(hazards="report")
    tile.lregs[0], tile.lregs[1] = np.float32(2).view(np.uint32), np.float32(old).view(np.uint32)
    tile.push("t1", tensix.assemble("SFPMUL L1, L0, L0, L9, 0\nSFPMOV L2, L1, 0").words)
    assert [f.level for f in tile.run(100).hazards] == [level]
