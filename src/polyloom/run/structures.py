# SPDX-License-Identifier: Apache-2.0
"""Structures as arguments of a run: a mapping, or a structure of `ctypes`, gives the fields that the program takes;
`S={"taps": 4}` is `S_taps=4`, as C's `S->taps` is called (frontend.c.canonical.arguments.promotion).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import numpy as np

from polyloom.diagnostics import input_error
from polyloom.ir.signature import Signature

_POINTER: Final = ctypes.POINTER(ctypes.c_int).__mro__[1]
"""The base class of all pointers, which `ctypes` does not name."""


def with_fields(given: Mapping[str, Any], signature: Signature) -> dict[str, Any]:
    """What is given by name, with the fields that the program takes in the place of structures; what it does not use of
    one is left out. Errors: PL0232 for a pointer whose length is not known.
    """
    if not any(_is_structure(value) for value in given.values()):
        return dict(given)
    taken = {a.name: a for a in (*signature.arguments, *signature.unread)}
    found = dict(_leaves(given))
    plain = {name for name in given if not _is_structure(given[name])}
    kept = {n: v for n, v in found.items() if n in taken or n in signature.sizes or n in plain}
    sizes = {n: int(v) for n, v in kept.items() if n in signature.sizes and isinstance(v, int)}
    for name, value in kept.items():
        if isinstance(value, _POINTER):
            if not value or sizes.keys() < {*signature.sizes}:
                what = "is null" if not value else "has a length that needs all sizes"
                help = "give an array: numpy.ctypeslib.as_array(pointer, shape)"
                raise input_error("PL0232", f"the pointer `{name}` {what}", help=help)
            kept[name] = np.ctypeslib.as_array(value, taken[name].extents(sizes))
        elif isinstance(value, int | float) and name in taken and taken[name].extents(sizes) == (1,):
            # A processor stores a field that the function writes through a pointer: an array of one element.
            kept[name] = np.full(1, value, taken[name].dtype)
    return kept


def _is_structure(value: object) -> bool:
    return isinstance(value, Mapping | ctypes.Structure)


def _leaves(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in given.items():
        if _is_structure(value):
            yield from ((f"{name}_{field}", leaf) for field, leaf in _leaves(_fields(value)))
        else:
            yield name, np.ctypeslib.as_array(cast("Any", value)) if isinstance(value, ctypes.Array) else value


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value)
    return {field[0]: getattr(value, field[0]) for field in value._fields_}
