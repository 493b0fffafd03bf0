# SPDX-License-Identifier: Apache-2.0
"""Every error of a tensor operation sets exactly its bit, ends the operation at once and leaves everything else."""

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, START, csr, load, load_b, run, wait

KEEP = f"csrr t1, tensor_error\nli a0, {ARRAYS + 0x30000}\nsd t1, 0(a0)\n"
FLOATS = "li t0, 0x6000\ncsrs mstatus, t0\n"
PCIE = 0x40_0000_0000
FMA = csr(0x801, words.fma("fp32", first=True))
LOCK = f"li t0, {ARRAYS}\ncsrw 0x7fd, t0\n"
CREDIT = """
    li a1, 0x13ff400c0
    li a2, 1
    li a3, 65536
more:
    sd a2, 0(a1)
    addi a3, a3, -1
    bnez a3, more
    li a3, 500
late:
    addi a3, a3, -1
    bnez a3, late
"""
CASES = {
    "bad transform": (START, csr(0x83F, words.load(0, 16, ARRAYS) | 3 << 59, 64), [1], "tensor_load"),
    "credits": (START, CREDIT, [3], "store to CREDINC"),
    "load, L1Scp off": (FLOATS, load(0, 16, ARRAYS), [4], "tensor_load"),
    "LoadB, L1Scp off": (FLOATS, load_b(16, ARRAYS), [4], "tensor_load_b"),
    "FMA, L1Scp off": (FLOATS, csr(0x801, words.fma("fp32", b=16, first=True)), [4], "tensor_fma"),
    "FMA from TenB, L1Scp off": (FLOATS, FMA, [4, 6], "tensor_fma"),
    "quant, L1Scp off": (FLOATS, csr(0x806, words.quant(("add_row",))), [4], "tensor_quant"),
    "store from L1Scp, off": (FLOATS, csr(0x87F, words.store_scp(16, ARRAYS), 64), [4], "tensor_store_scp"),
    "lock of a locked line": (FLOATS, LOCK + LOCK, [5], "lock_sw"),
    "FMA without a LoadB": (START, FMA, [6], "tensor_fma"),
    "FMA whose depth is not the LoadB's": (START, load_b(8, ARRAYS) + FMA, [6], "tensor_fma"),
    "FMA from L1Scp with a LoadB": (
        START, load_b(16, ARRAYS) + csr(0x801, words.fma("fp32", b=16, first=True)), [6], "tensor_fma"
    ),
    "load from PCIe": (START, load(0, 16, PCIE) + wait(0), [7], "tensor_load"),
    "LoadB from PCIe": (START, load_b(16, PCIE) + FMA + wait(7), [7], "tensor_load_b"),
    "load to L2Scp from PCIe": (START, csr(0x85F, words.load_l2(0, 16, PCIE), 64) + wait(2), [7], "tensor_load_l2"),
    "load to L2Scp beyond it": (
        START, csr(0x85F, words.load_l2(100_000, 1, ARRAYS), 64) + wait(2), [7], "tensor_load_l2"
    ),
    "store to PCIe": (START, csr(0x87F, words.store(16, 64, PCIE), 64) + wait(8), [7], "tensor_store"),
    "store from L1Scp to PCIe": (START, csr(0x87F, words.store_scp(16, PCIE), 64) + wait(8), [7], "tensor_store_scp"),
    "flush of PCIe": (START, f"li x31, 0\nli t0, {PCIE | 2 << 58}\ncsrw 0x8bf, t0\n", [7], "flush_va"),
    "store of rows of 48 bytes": (
        START, csr(0x87F, words.store(16, 64, ARRAYS) & ~(3 << 55) | 2 << 55, 64), [8], "tensor_store"
    ),
    "send to itself": (START, csr(0x800, words.send(0, 4)), [9], "tensor_send"),
    "send of nothing to itself": (START, csr(0x800, words.send(0, 0)), [9], "tensor_send"),
    "reduce with a function that there is none of": (
        START, "bnez s0, end\n" + csr(0x800, words.reduce(0, 4, "fadd") | 1 << 24), [9], "tensor_reduce"
    ),
    "written by the program": (START, "li t0, 0x40\ncsrw tensor_error, t0\n", [6], "csr write"),
}  # fmt: skip


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("hazards", ["off", "error"])
@pytest.mark.parametrize("case", CASES)
def test_an_error_sets_its_bit_and_is_told(case: str, hazards: str, functional: bool) -> None:
    before, operation, bits, name = CASES[case]
    done = run(FIRST_HARTS + before + operation + KEEP, functional=functional, hazards=hazards, max_cycles=10_000_000)
    if bits == [3] and hazards == "error":
        assert done.result["stop"] == "hazard"
        return
    assert done.result["stop"] == "tensor-error", done.result
    assert done.read(ARRAYS + 0x30000, (1,), np.uint64)[0] == sum(1 << each for each in bits)
    standing = {f["value"]: f["later_name"] for f in done.result["findings"] if f["standing"]}
    assert standing == dict.fromkeys(bits, name)


def test_the_cases_provoke_every_bit() -> None:
    assert {bit for _, _, bits, _ in CASES.values() for bit in bits} == {1, 3, 4, 5, 6, 7, 8, 9}


@pytest.mark.parametrize("functional", [False, True])
def test_what_the_program_clears_is_told_and_no_error(functional: bool) -> None:
    text = FIRST_HARTS + START + FMA + wait(7) + "csrw tensor_error, zero\n" + FMA + wait(7) + KEEP
    result = run(text + "csrw tensor_error, zero\n", functional=functional).result
    assert result["stop"] == "passed"
    assert [(f["kind"], f["standing"]) for f in result["findings"]] == [("tensor_error", 0)] * 2


def test_the_first_instruction_that_set_what_is_left_is_named() -> None:
    """After the program has cleared the register: the second FMA, not the first, nor the third."""
    text = FIRST_HARTS + START + FMA + "csrw tensor_error, zero\n" + FMA + FMA
    found = run(text).result["findings"]
    assert [f["standing"] for f in found] == [0, 1, 0]


ILLEGAL = {
    "FMA of type 2": csr(0x801, 2 << 1),
    "FMA with frm 5": "csrwi frm, 5\n" + csr(0x801, words.fma("fp32", b=16)),
    "quant with frm 5": "csrwi frm, 5\n" + csr(0x806, words.quant(("i32_to_f32",))),
    "cooperative load without the mode": csr(0x83F, words.load(0, 16, ARRAYS, coop=True), 64),
    "cooperative store without the mode": csr(0x87F, words.store(16, 32, ARRAYS) | 1 << 49, 64),
    "cooperative store of a size that there is none of, without the mode": csr(
        0x87F, words.store(16, 64, ARRAYS) | 1 << 49, 64
    ),
}


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("case", ILLEGAL)
def test_an_illegal_operation_traps(case: str, functional: bool) -> None:
    result = run(FIRST_HARTS + START + ILLEGAL[case], functional=functional).result
    assert (result["stop"], result["cause"], result["hart"]) == ("trap", 2, 0)


def test_lines_before_a_fault_are_loaded() -> None:
    """The fifth line lies behind the last byte of DRAM."""
    last = 0x88_0000_0000 - 4 * 64
    ones = np.ones((4, 16), np.float32)
    store = csr(0x87F, words.store_scp(16, ARRAYS), 64) + wait(8)
    done = run(FIRST_HARTS + START + load(0, 16, last) + wait(0) + store + KEEP, {last: ones})
    assert done.result["stop"] == "tensor-error"
    assert "0x8800000000" in done.result["findings"][0]["what"]
    assert done.read(ARRAYS + 0x30000, (1,), np.uint64)[0] == 1 << 7
    assert done.read(ARRAYS, (16, 16), np.float32)[:, 0].tolist() == [1.0] * 4 + [0.0] * 12


@pytest.mark.parametrize("functional", [False, True])
def test_an_operation_of_a_place_that_is_taken_waits(functional: bool) -> None:
    """The second store's acceptance proves the first complete; both arrive."""
    f = "li t1, 7\nfcvt.s.w f0, t1\n"
    stores = "".join(csr(0x87F, words.store(1, 64, ARRAYS + 64 * n), 64) for n in range(8))
    done = run(FIRST_HARTS + START + f + stores + wait(8), functional=functional)
    assert done.result["stop"] == "passed"
    assert done.read(ARRAYS, (8, 16), np.float32)[:, 0].tolist() == [7.0] * 8
