# SPDX-License-Identifier: Apache-2.0
"""The note in an executable of ours: its target and member, and what the function takes and gives (docs/formats.md).

The text is one JSON object with sorted keys, so that equal functions have equal files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from polyloom.ir.signature import RESULT, Argument, Dtype, Extent, Signature
from polyloom.ir.ssa import RESULT as OF_RESULT
from polyloom.ir.ssa import Block, Function, Unreachable, Value
from polyloom.ir.ssa_types import I1, PTR, Type
from polyloom.riscv import symbols

TARGET: Final = "riscv"
VERSION: Final = 1
_DEEPEST: Final = 16
"""Levels of structures in structures."""


@dataclass(frozen=True, slots=True)
class Note:
    """`member` is the instruction set that the file needs."""

    member: str
    signature: Signature


def encode(note: Note) -> bytes:
    """The text."""
    signature = note.signature
    made = {
        "version": VERSION,
        "target": TARGET,
        "member": note.member,
        "name": signature.name,
        "sizes": list(signature.sizes),
        "arguments": [_argument(a) for a in signature.arguments],
    }
    return json.dumps(made, sort_keys=True, separators=(",", ":")).encode()


def _argument(argument: Argument) -> dict[str, object]:
    made: dict[str, object] = {"name": argument.name, "type": _described(argument.dtype), "output": argument.is_output}
    return made if argument.is_scalar else {**made, "extents": [str(extent) for extent in argument.shape]}


def _described(dtype: Dtype) -> object:
    """NumPy's name of a type; of a structure its fields, as [name, type, extents, offset], and its bytes."""
    if dtype.fields is None:
        return dtype.str
    fields: list[object] = []
    for name, (inner, offset, *_) in dtype.fields.items():
        base, extents = inner.subdtype or (inner, ())
        fields.append([name, _described(base), list(extents), offset])
    return {"fields": fields, "bytes": dtype.itemsize}


def decode(data: bytes) -> Note | None:
    """The note of an ELF file; None where it has none of this target."""
    text = symbols.note(data)
    if text is None:
        return None
    try:
        made = cast("dict[str, Any]", json.loads(text))
        if made["target"] != TARGET or made["version"] != VERSION:
            return None
        return Note(str(made["member"]), _signature(made))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None


def _signature(made: Mapping[str, Any]) -> Signature:
    arguments = tuple(map(_read_argument, made["arguments"]))
    scalars = tuple(a.name for a in arguments if a.is_scalar and a.is_input)
    sizes = tuple(str(size) for size in made["sizes"])
    # The note comes from a file that anybody may have changed.
    if not set(sizes) <= set(scalars) or len({a.name for a in arguments}) < len(arguments):
        raise ValueError
    if not {name for a in arguments for extent in a.shape for name in extent.names} <= set(sizes):
        raise ValueError
    return Signature(str(made["name"]), scalars, sizes, arguments)


def _read_argument(made: Mapping[str, Any]) -> Argument:
    shape = tuple(_extent(str(text)) for text in made.get("extents", ()))
    name = str(made["name"])
    return Argument(name, _dtype(made["type"]), shape, name != RESULT, bool(made["output"]))


def _extent(text: str) -> Extent:
    extent = Extent.read(text)
    if extent is None:
        raise ValueError
    return extent


def _dtype(made: Any, depth: int = 0) -> Dtype:
    if isinstance(made, str):
        dtype = np.dtype(made)
        # `np.dtype` also reads names of objects and times, which no function of ours takes.
        if dtype.kind not in "biuf":
            raise ValueError
        return dtype
    if depth == _DEEPEST:
        raise ValueError
    names, formats, offsets = list[str](), list[Any](), list[int]()
    for name, inner, extents, offset in made["fields"]:
        names.append(str(name))
        formats.append((_dtype(inner, depth + 1), tuple(int(n) for n in extents)))
        offsets.append(int(offset))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": int(made["bytes"])})


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
