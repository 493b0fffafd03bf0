# SPDX-License-Identifier: Apache-2.0
"""Views of arguments that the host lays out for stages: slices, flips, pads and concatenations of them, and arrays of
constants, as statements of `ir.arrays` that only move elements (gathers; ISA documentation: unpackers read whole tiles
from consecutive addresses, so that nothing on a tile moves single elements between places).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from polyloom import memory
from polyloom.diagnostics import PolyloomError
from polyloom.ir.arrays.interpret import Interpreter, extents
from polyloom.ir.arrays.program import Apply, Contract, Program, Reduce, Scan, Store, Value, parts, reads
from polyloom.ir.arrays.read import read_arrays
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.arrays.verify import verify
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.targets.tensix.words.dram_port import MEMORY
from polyloom.transform.stages.array_statements import substitute_loops

_WORD: Final = 4
"""Bytes of an element."""
Views = Program
"""Its arguments are those of the program, and the views, each stored to once as a whole."""


def view_arrays(views: Views | None, values: Mapping[str, int], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, and the views of them."""
    if views is None:
        return dict(inputs)
    needed = sum(prod(extents(s.shape, values)) * _WORD for s in views.storage if s.name not in inputs)
    memory.require_memory(needed, "what the program reads of its arrays", "give smaller sizes")
    machine = Interpreter(views, values, inputs)
    # Where a mask hides an element, it may be any; an index beyond the array is clamped.
    machine.clamps = True
    with np.errstate(all="ignore"):
        machine.run(views.body, dict(values))
    return {**inputs, **{name: machine.arrays[name] for name in views.written_arguments}}


def specialize_views(views: Views, values: Mapping[str, int]) -> Views:
    """Views at sizes."""
    known = {name: Affine((), values[name]) for name in views.parameters}
    body = list[Store]()
    for store in views.body:
        assert isinstance(store, Store), "views are straight-line"
        target = replace(store.target, shape=tuple(extent.substitute(known) for extent in store.target.shape))
        body.append(replace(store, target=target, value=substitute_loops(store.value, known)))
    storage = tuple(replace(s, shape=tuple(e.substitute(known) for e in s.shape)) for s in views.storage)
    return replace(views, parameters=(), assumptions=Condition((Polyhedron(()),)), storage=storage, body=tuple(body))


def encode_views(views: Views | None) -> str:
    """Text of views (`ir.arrays.text`); nothing for none."""
    return "" if views is None else print_arrays(views)


def decode_views(text: str) -> Views | None:
    """Views of a text. Raises ValueError for anything but moved elements of arrays that a tile has room for."""
    if not text:
        return None
    try:
        views = read_arrays(text)
        verify(views)
    except (PolyloomError, RecursionError):
        raise ValueError from None
    # A stranger's file must not make the host allocate more than a tile and the memory behind it have.
    shapes = [[extent.evaluate({}) for extent in s.shape] for s in views.storage if not _symbols(s.shape)]
    if len(shapes) != len(views.storage) or views.parameters or any(_WORD * prod(shape) > MEMORY for shape in shapes):
        raise ValueError
    if not all(isinstance(each, Store) and _moves_elements(each.value) for each in views.body):
        raise ValueError
    return views


def viewed_arguments(views: Views | None) -> frozenset[str]:
    """Arguments that views read."""
    return frozenset(r.name for s in (views.body if views else ()) if isinstance(s, Store) for r in reads(s.value))


def _symbols(shape: tuple[Affine, ...]) -> frozenset[str]:
    return frozenset[str]().union(*(extent.symbols for extent in shape))


def _moves_elements(value: Value) -> bool:
    return not isinstance(value, Apply | Contract | Reduce | Scan) and all(map(_moves_elements, parts(value)))
