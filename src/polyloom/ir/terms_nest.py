# SPDX-License-Identifier: Apache-2.0
"""Symbolic execution of a nest (King 1976): the function of `ir.nest_interpret`, whose operations make terms instead of
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from polyloom.ir.arguments import array_shape
from polyloom.ir.nest import Apply, Expression, Index, Nest
from polyloom.ir.nest_interpret import compile_nest, storage_array
from polyloom.ir.numbers import make_element
from polyloom.ir.operations import ELEMENT_TYPES, NUMBER, ElementType
from polyloom.ir.pla import Constant
from polyloom.ir.python_source import Scope
from polyloom.ir.terms import ID, Ids, Terms


def interpret(nest: Nest, values: Mapping[str, int], inputs: Mapping[str, Ids], terms: Terms) -> dict[str, Ids]:
    """Symbolic execution: what every argument holds in the end. Those that `inputs` leaves out begin with 0, like
    locals.
    """
    held: dict[str, dict[tuple[int, ...], int]] = {}
    shapes = {s.name: array_shape(storage_array(s), values) for s in nest.storage}
    for storage in nest.storage:
        given = inputs.get(storage.name)
        start = terms.zeros(shapes[storage.name], storage.dtype) if given is None else given
        # Python's numbers in a dictionary are read and written several times as fast as NumPy's.
        held[storage.name] = {index: int(number) for index, number in np.ndenumerate(start)}
    compile_nest(nest, _Scope(terms))(values, held)
    return {
        s.name: np.fromiter(held[s.name].values(), ID).reshape(shapes[s.name])
        for s in nest.storage
        if s.role == "argument"
    }


class _Scope(Scope):
    """Source whose values are terms."""

    def __init__(self, terms: Terms) -> None:
        super().__init__()
        self.terms = terms
        # The native function itself: there is one call per operation that executes.
        self.values["apply"] = terms.native.apply_one

    def value(self, expression: Expression, reads: Iterator[str]) -> str:
        match expression:
            case Constant(value=value, dtype=dtype):
                return str(self.terms.constant(value, dtype))
            case Index(value=value, dtype=dtype):
                self.values[f"index_{dtype}"] = self._index(dtype)
                return f"index_{dtype}({self.affine(value)})"
            case Apply(operation=operation, dtype=dtype, operands=operands):
                own = [self.value(o, reads) for o in operands]
                parts = (NUMBER[operation], ELEMENT_TYPES.index(dtype), *own, 0, 0)[:5]
                return f"apply({', '.join(map(str, parts))})"
            case _:
                return next(reads)

    def _index(self, dtype: ElementType) -> Callable[[int], int]:
        return lambda value: self.terms.constant(make_element(value, dtype).item(), dtype)
