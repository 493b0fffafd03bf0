# SPDX-License-Identifier: Apache-2.0
"""What a Minion's hart executes: RV64IMFC with Zicsr and Zifencei, the vendor's extension (riscv/xaifet.txt), and the
control registers by name.

`word` encodes one instruction from numbers; assemble.py reads text. Sources: ET Programmer's Reference Manual, tables
2-2 and 2-3; The RISC-V Instruction Set Manual, Volume II, chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.riscv import disassemble
from polyloom.riscv.encode import decode as decode_word
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Row, find_row, instruction_table
from polyloom.riscv.names import Isa

# No `d` and no `a`: opcode 0x2F is illegal, and the vendor's atomics lie in OP-32 (manual, chapter 7).
ISA: Final = Isa(64, frozenset({"i", "m", "f", "c", "zicsr", "zifencei", "xaifet"}))
CSRS: Final[Mapping[int, str]] = {
    0x001: "fflags",
    0x002: "frm",
    0x003: "fcsr",
    0x100: "sstatus",
    0x104: "sie",
    0x105: "stvec",
    0x106: "scounteren",
    0x140: "sscratch",
    0x141: "sepc",
    0x142: "scause",
    0x143: "stval",
    0x144: "sip",
    0x180: "satp",
    0x300: "mstatus",
    0x301: "misa",
    0x302: "medeleg",
    0x303: "mideleg",
    0x304: "mie",
    0x305: "mtvec",
    0x306: "mcounteren",
    **{0x320 + n: f"mhpmevent{n}" for n in range(3, 32)},
    0x340: "mscratch",
    0x341: "mepc",
    0x342: "mcause",
    0x343: "mtval",
    0x344: "mip",
    0x7A0: "tselect",
    0x7A1: "tdata1",
    0x7A2: "tdata2",
    0x7A3: "tdata3",
    0x7B0: "dcsr",
    0x7B1: "dpc",
    # From here on the vendor's own registers; 0x800 to 0x8FF are writable in user mode.
    0x7C0: "matp",
    0x7CD: "minstmask",
    0x7CE: "minstmatch",
    0x7CF: "amofence_ctrl",
    0x7D0: "cache_invalidate",
    0x7D2: "menable_shadows",
    0x7D3: "excl_mode",
    0x7D5: "mbusaddr",
    0x7E0: "mcache_control",
    0x7F9: "evict_sw",
    0x7FB: "flush_sw",
    0x7FD: "lock_sw",
    0x7FF: "unlock_sw",
    0x800: "tensor_reduce",
    0x801: "tensor_fma",
    0x802: "tensor_conv_size",
    0x803: "tensor_conv_ctrl",
    0x804: "tensor_coop",
    0x805: "tensor_mask",
    0x806: "tensor_quant",
    0x808: "tensor_error",
    0x810: "ucache_control",
    0x81F: "prefetch_va",
    0x820: "flb",
    0x821: "fcc",
    0x822: "stall",
    0x830: "tensor_wait",
    0x83F: "tensor_load",
    0x840: "gsc_progress",
    0x85F: "tensor_load_l2",
    0x87F: "tensor_store",
    0x89F: "evict_va",
    0x8BF: "flush_va",
    **{0x8D0 + n: f"validation{n}" for n in range(4)},
    0x8DF: "lock_va",
    0x8FF: "unlock_va",
    # Ports between minions, which the model does not have.
    **{0x9CC + n: f"portctrl{n}" for n in range(4)},
    0xB00: "mcycle",
    0xB02: "minstret",
    **{0xB00 + n: f"mhpmcounter{n}" for n in range(3, 32)},
    0xC00: "cycle",
    0xC01: "time",
    0xC02: "instret",
    **{0xC00 + n: f"hpmcounter{n}" for n in range(3, 32)},
    0xCC0: "fccnb",
    **{0xCC8 + n: f"porthead{n}" for n in range(4)},
    **{0xCCC + n: f"portheadnb{n}" for n in range(4)},
    0xCD0: "hartid",
    0xF11: "mvendorid",
    0xF12: "marchid",
    0xF13: "mimpid",
    0xF14: "mhartid",
}


def extension_rows() -> tuple[Row, ...]:
    """Rows of the vendor's extension, from riscv/xaifet.txt."""
    return instruction_table("xaifet")


def word(mnemonic: str, *values: int) -> int:
    """Encoder of one instruction, from the values of its fields in the order of the operands: register numbers,
    immediates, and the rounding mode, which must be given where the row has one (7 is dyn; RISC-V unprivileged manual,
    chapter F).
    """
    row = find_row(mnemonic, ISA)
    assert row is not None, f"{ISA} has no {mnemonic}"
    return encode(Instruction(row, values))


def decode(word: int) -> Instruction | None:
    """Decoder of one word: the instruction in its low bits, None where it is illegal."""
    return decode_word(word, ISA)


def instruction_text(instruction: Instruction) -> str:
    """Disassembly of one instruction, as assemble.py reads it."""
    return disassemble.instruction_text(instruction, CSRS)


def listing(data: bytes, base: int = 0) -> Iterator[str]:
    """Lines `address: word  text`."""
    return disassemble.listing(data, ISA, base, CSRS)
