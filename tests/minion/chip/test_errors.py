# SPDX-License-Identifier: Apache-2.0
"""Every error of a tensor operation sets exactly its bit, ends the operation at once and leaves everything else."""

import numpy as np
import pytest

from polyloom.targets.minion import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, START, csr, load, load_b, run, wait

KEEP = f"csrr t1, tensor_error\nli a0, {ARRAYS + 0x30000}\nsd t1, 0(a0)\n"
FLOATS = "li t0, 0x6000\ncsrs mstatus, t0\n"
PCIE = 0x40_0000_0000
FMA = csr(0x801, words.fma("fp32", first=True))
CASES = {
    "bad transform": (START, csr(0x83F, words.load(0, 16, ARRAYS) | 3 << 59, 64), 1),
    "load, L1Scp off": (FLOATS, load(0, 16, ARRAYS), 4),
    "LoadB, L1Scp off": (FLOATS, load_b(16, ARRAYS), 4),
    "FMA, L1Scp off": (FLOATS, csr(0x801, words.fma("fp32", b=16, first=True)), 4),
    "quant, L1Scp off": (FLOATS, csr(0x806, words.quant(("add_row",))), 4),
    "store from L1Scp, off": (FLOATS, csr(0x87F, words.store_scp(16, ARRAYS), 64), 4),
    "FMA without a LoadB": (START, FMA, 6),
    "FMA whose depth is not the LoadB's": (START, load_b(8, ARRAYS) + FMA, 6),
    "FMA from L1Scp with a LoadB": (START, load_b(16, ARRAYS) + csr(0x801, words.fma("fp32", b=16, first=True)), 6),
    "load from PCIe": (START, load(0, 16, PCIE) + wait(0), 7),
    "LoadB from PCIe": (START, load_b(16, PCIE) + FMA + wait(7), 7),
    "load to L2Scp from PCIe": (START, csr(0x85F, words.load_l2(0, 16, PCIE), 64) + wait(2), 7),
    "load to L2Scp beyond it": (START, csr(0x85F, words.load_l2(100_000, 1, ARRAYS), 64) + wait(2), 7),
    "store to PCIe": (START, csr(0x87F, words.store(16, 64, PCIE), 64) + wait(8), 7),
    "store of rows of 48 bytes": (START, csr(0x87F, words.store(16, 64, ARRAYS) & ~(3 << 55) | 2 << 55, 64), 8),
    "send to itself": (START, csr(0x800, words.send(0, 4)), 9),
    "send of nothing to itself": (START, csr(0x800, words.send(0, 0)), 9),
    "reduce with a function that there is none of": (
        START, "bnez s0, end\n" + csr(0x800, words.reduce(0, 4, "fadd") | 1 << 24), 9
    ),
}  # fmt: skip


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_an_error_sets_its_bit(case: str, functional: bool) -> None:
    before, operation, bit = CASES[case]
    done = run(FIRST_HARTS + before + operation + KEEP, functional=functional, hazards="off")
    assert done.result["stop"] == "passed", done.result
    assert done.read(ARRAYS + 0x30000, (1,), np.uint64)[0] == 1 << bit


ILLEGAL = {
    "FMA of type 2": csr(0x801, 2 << 1),
    "FMA with frm 5": "csrwi frm, 5\n" + csr(0x801, words.fma("fp32", b=16)),
    "quant with frm 5": "csrwi frm, 5\n" + csr(0x806, words.quant(("i32_to_f32",))),
    "cooperative load without the mode": csr(0x83F, words.load(0, 16, ARRAYS, coop=True), 64),
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
