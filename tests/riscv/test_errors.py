# SPDX-License-Identifier: Apache-2.0
"""Golden texts of what bad assembly and bad names of instruction sets are told."""

from __future__ import annotations

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.riscv import names
from polyloom.riscv.assemble import assemble

NAMES = {
    "no-name": "riscv",
    "width": "rv128i",
    "no-base": "rv64mac",
    "twice": "rv64gcc",
    "twice-general": "rv64g_zicsr",
    "contradiction": "rv32ie",
    "unknown-letter": "rv64gcv",
    "unknown-name": "rv64gc_zicnd",
    "empty-name": "rv64gc_",
    "tuning": "rv64gc+sfx",
}
TEXTS = {
    "mnemonic-far": "  vsetvli t0, a0, e32",
    "mnemonic-upper": "  SLLIW a0, a0, 1",
    "mnemonic": "start:\n  adid a0, a1, 1\n",
    "not-in-the-set": "czero.eqz a0, a1, a2",
    "not-in-the-width": "addw a0, a1, a2",
    "register": "add a0, a1, b2",
    "float-register": "fadd.s fa0, a1, fa2",
    "missing-operand": "add a0, a1",
    "extra-operand": "ret a0, a1",
    "immediate": "addi a0, a1, 2048",
    "odd-offset": "beq a0, a1, 3",
    "far-offset": "beqz a0, far\n.zero 5000\nfar: ret\n",
    "shift": "slli a0, a1, 32",
    "upper": "lui a0, 0x100000",
    "compressed-register": "c.and a0, t0",
    "compressed-zero": "c.addi4spn a0, sp, 0",
    "not-integer": "addi a0, a1, many",
    "rounding": "fadd.s fa0, fa1, fa2, rtn",
    "fence": "fence wr, rw",
    "label": "loop: j lop",
    "label-twice": "a: nop\na: nop\n",
    "directive": ".wrd 1",
    "operands-of-pseudo": "nop 1",
    "syntax": "nop\n  1a: nop",
    "data": ".byte 256",
    "zero": ".zero -1",
    "trailing-comma": ".byte 1,",
    "no-data": ".word",
    "li": "li a0, 0x100000000",
}


def message(text: str, isa: str) -> str:
    with pytest.raises(PolyloomError) as error:
        assemble(text, names.parse_isa(isa))
    return str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_name(name: str, golden: Golden) -> None:
    golden(f"isa-{name}", message("", NAMES[name]))


@pytest.mark.parametrize("name", TEXTS)
def test_text(name: str, golden: Golden) -> None:
    golden(f"text-{name}", message(TEXTS[name], "rv32imafdc"))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rv64gc_zbb_zicond", "rv64gc_zicond_zbb"),
        ("rv32id_zicsr", "rv32ifd"),
        ("rv64imafd_zicsr_zifencei", "rv64g"),
        ("rv64gc_zbb+sfb", "rv64gc_zbb+sfb"),
        ("RV32IMC_Zicond", "rv32imc_zicond"),
    ],
)
def test_canonical_name(text: str, name: str) -> None:
    assert str(names.parse_isa(text)) == name
    assert names.parse_isa(name) == names.parse_isa(text)
