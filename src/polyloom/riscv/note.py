# SPDX-License-Identifier: Apache-2.0
"""ELF note of our executables: target and member, and the function's inputs and outputs (docs/formats.md).

The text is one JSON object with sorted keys, so that equal functions have equal files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

from polyloom.diagnostics import PolyloomError
from polyloom.ir.signature import RESULT, Argument, Dtype, Signature
from polyloom.ir.signature_json import as_json, from_json
from polyloom.ir.ssa import RESULT as OF_RESULT
from polyloom.ir.ssa import Block, Function, Unreachable, Value
from polyloom.ir.ssa_types import I1, PTR, Type
from polyloom.riscv import symbols

T = TypeVar("T")
TARGET: Final = "riscv"
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Note:
    """Content of the note. `member` is the instruction set that the file needs."""

    member: str
    signature: Signature


def encode_note(note: Note, lines: Mapping[str, Sequence[Sequence[int | str]]] | None = None) -> bytes:
    """Text of the note; `lines` are the line table (source_lines.py)."""
    made = {
        "version": VERSION,
        "target": TARGET,
        "member": note.member,
        **as_json(note.signature),
        **({"lines": lines} if lines else {}),
    }
    return note_text(made)


def decode_note(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this target."""
    return read_note(data, _from_json)


def _from_json(made: dict[str, Any]) -> Note | None:
    if made["target"] != TARGET or made["version"] != VERSION:
        return None
    return Note(str(made["member"]), from_json(made))


def note_text(made: Mapping[str, object]) -> bytes:
    """What a note is written as."""
    return json.dumps(made, sort_keys=True, separators=(",", ":")).encode()


def read_note(data: bytes, of: Callable[[dict[str, Any]], T | None]) -> T | None:
    """What `of` makes of the note of an ELF file; None where there is none, and where it is not what `of` expects: the
    file may be anybody's.
    """
    found = symbols.read_note(data)
    if found is None:
        return None
    try:
        return of(cast("dict[str, Any]", json.loads(found)))
    # Whatever a stranger's JSON does to the reader means that the note is not ours.
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, PolyloomError):
        return None


def function_declaration(signature: Signature) -> Function:
    """Function without a body, from its signature: the calling convention needs its types."""
    arguments = [a for a in signature.arguments if a.is_input]
    parameters = tuple(Value(f"p{n}", _scalar_type(a) if a.is_scalar else PTR) for n, a in enumerate(arguments))
    unsigned = {n for n, a in enumerate(arguments) if a.is_scalar and _is_extended_with_zeros(a.dtype)}
    result = signature.argument(RESULT)
    if result is not None and _is_extended_with_zeros(result.dtype):
        unsigned.add(OF_RESULT)
    block = Block("entry", parameters, (), Unreachable())
    returned = None if result is None else _scalar_type(result)
    return Function(signature.name, returned, (block,), unsigned=frozenset(unsigned))


def _scalar_type(argument: Argument) -> Type:
    if argument.dtype.kind == "b":
        return I1
    found = Type.read(f"{'f' if argument.dtype.kind == 'f' else 'i'}{8 * argument.dtype.itemsize}")
    assert found is not None, f"{argument.name} has the type {argument.dtype}"
    return found


def _is_extended_with_zeros(dtype: Dtype) -> bool:
    """Whether the convention zero-extends it: integers of fewer than 32 bits without a sign (psABI, "Integer Calling
    Convention": extended by the sign of their type up to 32 bits).
    """
    return dtype.kind == "u" and dtype.itemsize < 4
