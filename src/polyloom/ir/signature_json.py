# SPDX-License-Identifier: Apache-2.0
"""JSON form of signatures, for notes in the files of targets (docs/formats.md, Executables)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from polyloom.ir.signature import RESULT, Argument, Dtype, Extent, Signature
from polyloom.sets import Affine, Condition, Polyhedron

_DEEPEST: Final = 16
"""Levels of structures in structures."""


def as_json(signature: Signature) -> dict[str, object]:
    """The keys `name`, `sizes`, `arguments`, and `assumptions` where there are some."""
    assumptions = [[str(Extent.of(c)) for c in piece.constraints] for piece in signature.assumptions.pieces]
    return {
        "name": signature.name,
        "sizes": list(signature.sizes),
        "arguments": [_write_argument(a) for a in signature.arguments],
        **({} if signature.assumptions == Condition() else {"assumptions": assumptions}),
    }


def from_json(made: Mapping[str, Any]) -> Signature:
    """Signature of such keys. Errors: ValueError, KeyError, TypeError, OverflowError for whatever does not fit."""
    arguments = tuple(map(_read_argument, made["arguments"]))
    scalars = tuple(a.name for a in arguments if a.is_scalar and a.is_input)
    sizes = tuple(str(size) for size in made["sizes"])
    # A file may be damaged or made by hand: everything that later code relies on is checked here.
    if not set(sizes) <= set(scalars) or len({a.name for a in arguments}) < len(arguments):
        raise ValueError
    assumptions = Condition()
    if "assumptions" in made:
        assumptions = Condition(tuple(Polyhedron(tuple(map(_read_affine, piece))) for piece in made["assumptions"]))
    if not {name for a in arguments for extent in a.shape for name in extent.names} | assumptions.symbols <= set(sizes):
        raise ValueError
    return Signature(str(made["name"]), scalars, sizes, arguments, assumptions)


def _write_argument(argument: Argument) -> dict[str, object]:
    made: dict[str, object] = {
        "name": argument.name,
        "type": _describe_dtype(argument.dtype),
        "output": argument.is_output,
    }
    return made if argument.is_scalar else {**made, "extents": [str(extent) for extent in argument.shape]}


def _describe_dtype(dtype: Dtype) -> object:
    """NumPy's name of a type; of a structure its fields, as [name, type, extents, offset], and its bytes."""
    if dtype.fields is None:
        return dtype.str
    fields: list[object] = []
    for name, (inner, offset, *_) in dtype.fields.items():
        base, extents = inner.subdtype or (inner, ())
        fields.append([name, _describe_dtype(base), list(extents), offset])
    return {"fields": fields, "bytes": dtype.itemsize}


def _read_argument(made: Mapping[str, Any]) -> Argument:
    shape = tuple(_read_extent(str(text)) for text in made.get("extents", ()))
    name = str(made["name"])
    return Argument(name, _read_dtype(made["type"]), shape, name != RESULT, bool(made["output"]))


def _read_affine(text: Any) -> Affine:
    """Affine form of an extent without products; raises ValueError."""
    terms = _read_extent(str(text)).terms
    if any(len(names) > 1 for names, _ in terms):
        raise ValueError
    return Affine(tuple((names[0], c) for names, c in terms if names), sum(c for names, c in terms if not names))


def _read_extent(text: str) -> Extent:
    extent = Extent.read(text)
    if extent is None:
        raise ValueError
    return extent


def _read_dtype(made: Any, depth: int = 0) -> Dtype:
    if isinstance(made, str):
        try:
            dtype = np.dtype(made)
        except SyntaxError:  # what NumPy raises for a text such as "<04"
            raise ValueError from None
        # Objects, texts and dates of NumPy are no elements that a machine has.
        if dtype.kind not in "biuf":
            raise ValueError
        return dtype
    # A damaged file must not exhaust Python's stack.
    if depth == _DEEPEST:
        raise ValueError
    names, formats, offsets = list[str](), list[Any](), list[int]()
    for name, inner, extents, offset in made["fields"]:
        names.append(str(name))
        formats.append((_read_dtype(inner, depth + 1), tuple(int(n) for n in extents)))
        offsets.append(int(offset))
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": int(made["bytes"])})
