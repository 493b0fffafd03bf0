# SPDX-License-Identifier: Apache-2.0
"""The five cores: C programs on each, what they reach, and the timing of facts 1.9 measured by micro-programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.targets.tensix.tile.tools import RESET, alone, link, place, words

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import python as tensix

L1 = "lui s0, 0x20\n"
LOCAL = "lui s0, 0xffb00\n"
GPRS, MAILBOX_STATE = "lui s0, 0xffe00\n", "lui s0, 0xffec0\n"


def cost(text: str, setup: str = "", core: str = "b") -> int:
    """Cycles between the first instruction of `text` and an instruction behind it."""
    return alone(setup + text, core)[1] - alone(setup, core)[1]


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("addi a0, a0, 1\naddi a0, a0, 1", 2),
        ("mul a0, a1, a2\naddi a0, a0, 1", 3),
        ("mul a0, a1, a2\nmul a3, a1, a2", 4),
        ("div a0, a1, zero", 2),
        ("li a2, 1\ndivu a0, a1, a2", 1 + 2),
        ("li a1, 15\nli a2, 3\ndivu a0, a1, a2", 2 + 6 + 4),
        ("li a1, -1\nli a2, 3\ndivu a0, a1, a2", 2 + 33),
        ("li a1, -15\nli a2, 3\nrem a0, a1, a2", 2 + 6 + 4),
    ],
)
def test_integer_instructions(text: str, cycles: int) -> None:
    assert cost(text) == cycles


@pytest.mark.parametrize(
    ("setup", "latency"), [(LOCAL, 2), (MAILBOX_STATE, 3), (GPRS, 4), ("lui s0, 0xffef0\n", 4), (L1, 8)]
)
def test_latency_of_loads(setup: str, latency: int) -> None:
    offset = 4 if setup == MAILBOX_STATE else 0
    assert cost(f"lw a0, {offset}(s0)\naddi a0, a0, 1", setup) == latency + 1
    assert cost(f"lw a0, {offset}(s0)\naddi a1, a1, 1", setup) == 2


def test_the_reset_register_is_a_debug_register() -> None:
    setup = "lui s0, 0xffb12\n"
    assert cost("lw a0, 0x1b0(s0)\naddi a0, a0, 1", setup) == 7 + 1


def test_four_loads_from_l1_in_seven_cycles() -> None:
    loads = [f"lw a{n % 8}, {16 * n}(s0)\n" for n in range(12)]
    twelve, eight = cost("".join(loads), L1), cost("".join(loads[:8]), L1)
    assert twelve - eight == 7


def test_stores() -> None:
    stores = [f"sw a0, {4 * n}(s0)\n" for n in range(24)]
    assert cost("".join(stores[:24]), L1) - cost("".join(stores[:20]), L1) == 4 * 5
    assert cost("".join(stores), LOCAL) == 24


def test_a_load_waits_for_the_store_to_its_address() -> None:
    assert cost("sw a0, 0(s0)\nsw a0, 4(s0)\nlw a1, 64(s0)", L1) < cost("sw a0, 0(s0)\nsw a0, 4(s0)\nlw a1, 4(s0)", L1)


def test_branches_backward_are_predicted_taken_and_forward_not() -> None:
    assert cost("beq zero, zero, on\non: nop") == 1 + 2 + 1
    assert cost("bne zero, zero, on\non: nop") == 1 + 1
    assert cost("li a0, 5\non: addi a0, a0, -1\nbne a0, zero, on") == 1 + 10 + 2
    assert cost("j on\non: nop") == 2


def test_two_cores_at_one_bank_take_turns() -> None:
    def took(offset: int) -> int:
        tile = tensix.Tile()
        for core, at in (("b", 0), ("t0", offset)):
            place(
                tile, core, f"lui s0, 0x20\n{f'lw a0, {at}(s0)' + chr(10):s}" * 1 + f"lw a1, {at}(s0)\n" * 20 + "ebreak"
            )
        return tile.run(1000).cycles

    assert took(0) > took(16)


def test_unaligned_addresses_round_down() -> None:
    tile, _ = alone("lui s0, 0x20\nli a0, 0x1234\nsw a0, 3(s0)\nlh a1, 1(s0)\nsw a1, 4(s0)")
    assert tile.l1[0x20000:0x20008].view(np.uint32).tolist() == [0x1234, 0x1234]


def test_the_back_door(tmp_path: Path) -> None:
    program = """
        #include "tensix_wormhole.h"
        int main(void) {
            volatile uint32_t *doors[3] = {(volatile uint32_t *)TENSIX_PUSH_T0, (volatile uint32_t *)TENSIX_PUSH_T1,
                                           (volatile uint32_t *)TENSIX_PUSH_T2};
            for (int t = 0; t < 3; t++) *doors[t] = TT_OP_SETDMAREG(0, 100 + t, 0, 2 * 7);
            TTI_SETDMAREG(0, 55, 0, 2 * 8);
            while (((volatile uint32_t *)TENSIX_GPRS)[2 * 64 + 7] != 102) {}
            *(volatile uint32_t *)0x20000 = ((volatile uint32_t *)TENSIX_GPRS)[64 + 7];
            return 0;
        }"""
    tile = tensix.Tile()
    tile.load_elf("b", link(tmp_path, "b", program))
    tile.release("b")
    assert tile.run(100_000).stop == "idle"
    assert tile.gpr[:, 7].tolist() == [100, 101, 102] and tile.gpr[0, 8] == 55
    assert tile.l1[0x20000:0x20004].view(np.uint32)[0] == 101


def test_c_on_each_core(tmp_path: Path) -> None:
    program = """
        #include <stdint.h>
        static uint32_t gcd(uint32_t a, uint32_t b) { while (b) { uint32_t r = a % b; a = b; b = r; } return a; }
        int main(void) { volatile uint32_t *at = (volatile uint32_t *)PLACE; at[2] = gcd(at[0], at[1]); return 0; }"""
    tile = tensix.Tile()
    for n, core in enumerate(RESET):
        at = 0x30000 + 16 * n
        tile.l1[at : at + 8].view(np.uint32)[:] = [840 * (n + 1), 1365 * (n + 1)]
        tile.load_elf(core, link(tmp_path, core, program.replace("PLACE", hex(at))))
        tile.release(core)
    outcome = tile.run(100_000)
    assert outcome.stop == "idle"
    assert [int(tile.l1[0x30008 + 16 * n :][:4].view(np.uint32)[0]) for n in range(5)] == [
        105 * (n + 1) for n in range(5)
    ]


def test_b_releases_the_others(tmp_path: Path) -> None:
    boss = """
        #include "tensix.h"
        int main(void) {
            TENSIX_REGISTER(TENSIX_SOFT_RESET) = TENSIX_RESET_T0 | TENSIX_RESET_T2 | TENSIX_RESET_NC;
            TENSIX_REGISTER(TENSIX_PCBUF + 0x10000) = 17;
            uint32_t answer = TENSIX_REGISTER(TENSIX_MAILBOX(2));
            *(volatile uint32_t *)0x20000 = answer;
            return 0;
        }"""
    worker = """
        #include "tensix_wormhole.h"
        int main(void) {
            uint32_t order = TENSIX_REGISTER(TENSIX_PCBUF);
            for (int n = 0; n < 40; n++) TTI_INCRWC(0, 1, 0, 0);
            (void)TENSIX_REGISTER(TENSIX_WAIT_IDLE);
            TENSIX_REGISTER(TENSIX_MAILBOX(0)) = order + 1;
            return 0;
        }"""
    tile = tensix.Tile()
    tile.load_elf("b", link(tmp_path, "b", boss))
    tile.load_elf("t1", link(tmp_path, "t1", worker))
    tile.release("b")
    assert tile.run(100_000).stop == "idle"
    assert tile.l1[0x20000] == 18 and tile.rwc[1, 4] == 40


def test_a_core_is_stalled_by_a_full_fifo() -> None:
    tile = tensix.Tile()
    tile.push("t0", words("STALLWAIT 0x1FF, 0x400\nNOP"))  # SrcA never comes
    place(tile, "t0", "lui t0, 0xffe40\nlui t1, 0x2000\n" + "sw t1, 0(t0)\n" * 60 + "ebreak")
    with pytest.raises(PolyloomError, match="core t0: the instruction at 0x000060") as caught:
        tile.run(10_000)
    assert caught.value.code == "PL1222"


def test_bs_read_of_a_pcbuf_waits_until_the_thread_is_idle() -> None:
    tile = tensix.Tile()
    place(tile, "t0", "lui s0, 0xffe80\nlw a0, 0(s0)\n.word 0x08000000\n.word 0x08000000\nlw a0, 0(s0)\nebreak")
    place(tile, "b", "lui s0, 0xffe80\nsw s0, 0(s0)\nlw a0, 0(s0)\naddi a0, a0, 1\nsw s0, 0(s0)\nebreak")
    assert tile.run(1000).stop == "idle"
    assert tile.native.registers(0)[10] == 1 and tile.native.registers(1)[10] == 0xFFE80000


@pytest.mark.parametrize("register", [0, 4, 8])
def test_a_thread_s_stores_to_pcbuf_and_ttsync_are_discarded(register: int) -> None:
    """Before a load from there, compilers order it behind pushes in this way."""
    load = f"lw a0, {register}(s0)\n" if register else ""
    tile, _ = alone(f"lui s0, 0xffe80\nli a0, 5\nsw a0, {register}(s0)\n{load}li a1, 7", "t1")
    assert tile.native.registers(2)[11] == 7


def test_mailboxes_hold_four() -> None:
    with pytest.raises(PolyloomError, match="core b: the instruction at 0x00000014"):
        alone("lui s0, 0xffec1\n" + "sw s0, 0(s0)\n" * 5)


def test_semaphores_by_address() -> None:
    tile, _ = alone(
        "lui s0, 0xffe80\nli a0, 1\nsw zero, 0x2c(s0)\nsw zero, 0x2c(s0)\nsw a0, 0x2c(s0)\nlw a1, 0x2c(s0)", "t2"
    )
    assert tile.semaphores[3, 0] == 1 and tile.native.registers(3)[11] == 1


def test_configuration_by_address() -> None:
    tile, _ = alone("lui s0, 0xffef0\nli a0, 7\nsw a0, 8(s0)\nsw a0, 0x2fc(s0)\nsw a0, 0x288(s0)", "t0")
    assert tile.config[0, 2] == 7 and tile.config[1, 3] == 7
    assert tile.config[:, 162].tolist() == [7, 7]


@pytest.mark.parametrize(
    ("core", "setup", "access", "message"),
    [
        ("t0", "lui s0, 0xffe50\n", "sw a0, 0(s0)", "a store to an address that this core cannot reach: 0xffe50000"),
        ("b", "lui s0, 0xffb80\n", "sw a0, 0(s0)", "cannot reach: 0xffb80000"),
        ("t1", "lui s0, 0xffb00\n", "lw a0, 0x7fc(s0)\nlui s0, 0xffb01\nlw a0, -0x800(s0)", "0xffb00800"),
        ("nc", "lui s0, 0xffe00\n", "lw a0, 0(s0)", "cannot reach: 0xffe00000"),
        ("b", "lui s0, 0x170\n", "lw a0, 0(s0)", "cannot reach: 0x00170000"),
        ("b", "lui s0, 0xffb20\n", "lw a0, 0(s0)", "a load from the NoC's registers"),
        ("b", "lui s0, 0xffb11\n", "sw a0, 0(s0)", "a store to TDMA-RISC registers"),
        ("b", "", "ecall", "ecall"),
        ("b", "", ".word 0x0000007f", "an instruction that RV32IM does not have"),
        ("nc", "", ".word 0x08000000", "an instruction that RV32IM does not have"),
        ("b", "lui s0, 0x200\n", "jr s0", "no code is at this address"),
    ],
)
def test_what_a_core_cannot_do_is_a_fault(core: str, setup: str, access: str, message: str) -> None:
    with pytest.raises(PolyloomError, match=message) as caught:
        alone(setup + access, core)
    assert caught.value.code == "PL1220" and "at 0x" in str(caught.value)


def test_registers_that_are_not_modelled_can_be_ignored() -> None:
    tile = tensix.Tile(ignore_mmio=True)
    place(tile, "b", "lui s0, 0xffb20\nli a0, 5\nlw a0, 0(s0)\nsw a0, 0(s0)\nebreak")
    assert tile.run(1000).stop == "idle"
    assert tile.native.registers(0)[10] == 0 and tile.native.ignored_mmio == 2


def test_a_core_that_jumps_to_itself_is_at_rest() -> None:
    tile = tensix.Tile()
    place(tile, "nc", "addi a0, a0, 1\non: j on")
    outcome = tile.run(10_000)
    assert (outcome.stop, outcome.cycles) == ("idle", 2)


def test_reset_addresses_can_be_overridden() -> None:
    tile = tensix.Tile()
    tile.config[:, 160], tile.config[:, 161] = 0x40000, 4
    tile.l1[0x40000:0x40004].view(np.uint32)[0] = 0x00100073
    tile.release("t2")
    assert tile.run(100).stop == "idle"
    assert tile.native.pc(3) == 0x40004


def test_a_rewritten_mop_is_reported() -> None:
    tile = tensix.Tile(hazards="report")
    tile.mop_config[0] = [100, 1] + [0x02000000] * 5 + [0x8F000000] * 2
    tile.push("t0", [0x01800000])
    place(tile, "t0", "nop\n" * 8 + "lui s0, 0xffb80\nsw zero, 0(s0)\nebreak")
    assert [f.kind for f in tile.run(1000).hazards] == ["mop-rewritten"]


def test_the_same_run_again_is_the_same() -> None:
    def told() -> tuple[object, ...]:
        tile = tensix.Tile()
        tile.native.tracing = True
        place(tile, "t0", "lui t0, 0xffe40\nlui t1, 0x8f000\n" + "sw t1, 0(t0)\n" * 20 + "ebreak")
        place(tile, "t1", "lui t0, 0xffe40\nlui t1, 0x8f000\n" + "sw t1, 0(t0)\n" * 20 + "ebreak")
        return tile.run(1000).cycles, tile.native.events, tile.l1.tobytes()

    assert told() == told()


def test_unknown_names_are_told() -> None:
    tile = tensix.Tile()
    with pytest.raises(PolyloomError, match="'t3' is no core of a tile"):
        tile.release("t3")
    with pytest.raises(PolyloomError, match="5 is no thread"):
        tile.push(5, [0])
    with pytest.raises(PolyloomError, match="other things than words"):
        tile.push(0, [1 << 32])
    with pytest.raises(PolyloomError, match="a tile runs no -1 cycles"):
        tile.run(-1)
    with pytest.raises(PolyloomError, match="no way to treat hazards"):
        tensix.Tile(hazards="warn")  # pyright: ignore[reportArgumentType]: what is tested
