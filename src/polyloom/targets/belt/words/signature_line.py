# SPDX-License-Identifier: Apache-2.0
"""Signature line of conasm and genasm, which tells names, types and sizes of arguments: `signature` and the JSON of a
file's note."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, cast

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.ir.signature import RESULT, Signature
from polyloom.ir.signature_json import as_json, from_json
from polyloom.targets.belt.value_types import BYTES, Type

BEGINS: Final = "signature "


def print_signature(signature: Signature) -> str:
    return BEGINS + json.dumps(as_json(signature), sort_keys=True, separators=(",", ":"))


def read(text: str, source: Source, offset: int) -> Signature:
    """Signature of a line at this offset of the source. Error: PL1007."""
    try:
        return from_json(cast("dict[str, Any]", json.loads(text.removeprefix(BEGINS))))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError, AttributeError):
        help = 'write the JSON object of a note: {"arguments":[],"name":"f","sizes":[]}'
        raise _wrong("the signature is not written as a file's note has it", source, text, offset, help) from None


def check_signature(
    text: str, source: Source, offset: int, name: str, parameters: Sequence[Type], results: Sequence[Type]
) -> Signature:
    """Signature of a line before a function of this name, whose parameters and result it names. Error: PL1007."""
    found = read(text, source, offset)
    # Arrays are passed as addresses, and pointers are a w on every member.
    given = [4 if not a.is_scalar else a.dtype.itemsize for a in found.inputs]
    result = found.argument(RESULT)
    gives = [] if result is None else [result.dtype.itemsize]
    if given != list(map(_bytes, parameters)) or gives != list(map(_bytes, results[:1])):
        message = f"the signature has other arguments or another result than {name}"
        help = "name each parameter, arrays as addresses of 4 bytes, or leave the line out"
        raise _wrong(message, source, text, offset, help)
    return found


def _bytes(type: Type) -> int:
    return BYTES[type.width] * type.lanes


def _wrong(message: str, source: Source, text: str, offset: int, help: str) -> PolyloomError:
    return input_error("PL1007", message, span=Span(source, offset, offset + len(text)), help=help)
