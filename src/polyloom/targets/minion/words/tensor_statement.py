# SPDX-License-Identifier: Apache-2.0
"""Expansion of tensor statements in assembly: the instructions that `tensor_load scp[0..15] from=a0` stands for.

They load the CSR's word into t5 and, where the operation has one, its second word into x31, and write the CSR; a word
below 32 is written by an immediate. What follows `=` may be a register, whose value is added to a field that is 0
without it, or a label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.riscv import pseudo
from polyloom.riscv.assembly.text import Text
from polyloom.riscv.isa import X_NAMES, register_number
from polyloom.riscv.names import Isa
from polyloom.targets.minion.words import tensor_notation
from polyloom.targets.minion.words.isa import CSRS
from polyloom.targets.minion.words.tensor_words import Word

_WORD, _SECOND = "t5", "t6"
"""Registers that a tensor operation overwrites; x31 is t6."""
# Registers and labels stand only where the word has an address or a stride; everything else is fixed in the word.
_NAMED: Final = re.compile(r"(?<!\S)(?P<key>from|to|stride)=(?P<name>[A-Za-z_.$][\w.$]*)(?!\S)")
_SHORT: Final = range(32)
_EXAMPLES: Final = {
    "tensor_load": "tensor_load scp[0..15] from=a0 stride=256",
    "tensor_load_b": "tensor_load_b TenB[0..15] from=a0 stride=256",
    "tensor_load_l2": "tensor_load_l2 l2scp[0..15] from=a0 stride=64",
    "tensor_fma": "tensor_fma fp32 16x16x16 A=scp[0..15] B=TenB C=f0..f31 mul",
    "tensor_store": "tensor_store 16x64B f0 to=a0 stride=64",
    "tensor_wait": "tensor_wait fma",
}


def expand_statement(mnemonic: Text, operands: Text, isa: Isa) -> Sequence[tuple[Text, Text]]:
    """Instructions that any statement stands for. Errors: PL1370 for a tensor operation that cannot be read."""
    if not mnemonic.text.startswith("tensor_"):
        return pseudo.expand_statement(mnemonic, operands, isa)
    given = {found["key"]: found["name"] for found in _NAMED.finditer(operands.text)}
    if taken := next((name for name in given.values() if _number(name) in (30, 31)), None):
        raise _error(mnemonic, f"'{taken}' is overwritten by the operation", "keep addresses in other registers")
    # The notation's own parser reads the rest: a register becomes 0 there, and its value is added at run time.
    plain = _NAMED.sub(lambda found: f"{found['key']}=0", operands.text)
    try:
        word = tensor_notation.parse(f"{mnemonic.text} {plain}".rstrip())
    except ValueError as error:
        example = _EXAMPLES.get(mnemonic.text.lower())
        help = f"write for instance `{example}`" if example else "`polyloom show` prints this notation"
        raise _error(mnemonic, str(error), help) from None
    lines = (line.partition(" ") for line in _expansion(word, given))
    parts = ((Text(name, mnemonic.span), Text(rest, operands.span)) for name, _, rest in lines)
    return tuple(each for part in parts for each in pseudo.expand_statement(*part, isa))


def _expansion(word: Word, given: dict[str, str]) -> Iterator[str]:
    """Lines of the expansion: `li`, the additions, and the CSR write (csrrwi takes 5 bits: RISC-V unprivileged manual,
    chapter Zicsr).
    """
    csr = CSRS[word.csr]
    address = given.get("from", given.get("to"))
    if word.value in _SHORT and address is None and word.x31 is None:
        yield f"csrrwi zero,{csr},{word.value}"
        return
    yield f"li {_WORD},{word.value}"
    if address is not None:
        if _number(address) is None:
            yield f"la {_SECOND},{address}"
        yield f"add {_WORD},{_WORD},{_SECOND if _number(address) is None else address}"
    if word.x31 is not None:
        yield f"li {_SECOND},{word.x31}"
    if "stride" in given:
        yield f"add {_SECOND},{_SECOND},{given['stride']}"
    yield f"csrrw zero,{csr},{_WORD}"


def _number(name: str) -> int | None:
    return register_number(name, X_NAMES)


def _error(mnemonic: Text, message: str, help: str) -> PolyloomError:
    return input_error("PL1370", message, span=mnemonic.span, help=help)
