# SPDX-License-Identifier: Apache-2.0
"""The note in an executable of ours: its target and member, and what the function takes and gives (docs/formats.md).

The text is one JSON object with sorted keys, so that equal functions have equal files.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, cast

from polyloom.ir.signature import RESULT, Argument, Dtype, Signature
from polyloom.ir.signature_json import as_json, of_json
from polyloom.ir.ssa import RESULT as OF_RESULT
from polyloom.ir.ssa import Block, Function, Unreachable, Value
from polyloom.ir.ssa_types import I1, PTR, Type
from polyloom.riscv import symbols

TARGET: Final = "riscv"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Note:
    """`member` is the instruction set that the file needs."""

    member: str
    signature: Signature


def encode(note: Note) -> bytes:
    """The text."""
    made = {
        "version": VERSION,
        "target": TARGET,
        "member": note.member,
        **as_json(note.signature),
    }
    return json.dumps(made, sort_keys=True, separators=(",", ":")).encode()


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this target."""
    text = symbols.note(data)
    if text is None:
        return None
    try:
        made = cast("dict[str, Any]", json.loads(text))
        if made["target"] != TARGET or made["version"] != VERSION:
            return None
        return Note(str(made["member"]), of_json(made))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


def declaration(signature: Signature) -> Function:
    """The function without a body, of which the calling convention is asked."""
    arguments = [a for a in signature.arguments if a.is_input]
    parameters = tuple(Value(f"p{n}", _type(a) if a.is_scalar else PTR) for n, a in enumerate(arguments))
    unsigned = {n for n, a in enumerate(arguments) if a.is_scalar and _is_extended_with_zeros(a.dtype)}
    result = signature.argument(RESULT)
    if result is not None and _is_extended_with_zeros(result.dtype):
        unsigned.add(OF_RESULT)
    block = Block("entry", parameters, (), Unreachable())
    returned = None if result is None else _type(result)
    return Function(signature.name, returned, (block,), unsigned=frozenset(unsigned))


def _type(argument: Argument) -> Type:
    if argument.dtype.kind == "b":
        return I1
    found = Type.read(f"{'f' if argument.dtype.kind == 'f' else 'i'}{8 * argument.dtype.itemsize}")
    assert found is not None, f"{argument.name} has the type {argument.dtype}"
    return found


def _is_extended_with_zeros(dtype: Dtype) -> bool:
    """What the convention extends so: integers of fewer than 32 bits without a sign."""
    return dtype.kind == "u" and dtype.itemsize < 4
