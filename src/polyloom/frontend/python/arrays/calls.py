# SPDX-License-Identifier: Apache-2.0
"""Calls: functions of NumPy and Python by their tables, methods, types, and functions of the user's."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.arrays.conditions import Tests
from polyloom.frontend.python.arrays.functions import call_handler
from polyloom.frontend.python.arrays.functions.creation import FUNCTIONS as CREATION
from polyloom.frontend.python.arrays.functions.creation import astype
from polyloom.frontend.python.arrays.functions.elementwise import FUNCTIONS as ELEMENTWISE
from polyloom.frontend.python.arrays.functions.products import FUNCTIONS as PRODUCTS
from polyloom.frontend.python.arrays.functions.reductions import FUNCTIONS as REDUCTIONS
from polyloom.frontend.python.arrays.functions.reductions import METHODS
from polyloom.frontend.python.arrays.functions.shaping import FUNCTIONS as SHAPING
from polyloom.frontend.python.arrays.functions.shaping import ravel, reshape
from polyloom.frontend.python.arrays.indexing import index_array
from polyloom.frontend.python.arrays.iterables import Enumeration, Zip, make_range, reverse, sequence
from polyloom.frontend.python.arrays.names import Closure, Frame
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import (
    Bound,
    Data,
    Generator,
)
from polyloom.frontend.python.types import NAMED
from polyloom.frontend.suggestions import suggestion
from polyloom.sets import Affine

FUNCTIONS: dict[Any, Callable[..., Any]] = {**ELEMENTWISE, **REDUCTIONS, **CREATION, **PRODUCTS, **SHAPING}
_REDUCTIONS: dict[Any, tuple[Any, Any]] = {
    np.add: (np.sum, np.cumsum),
    np.multiply: (np.prod, np.cumprod),
    np.maximum: (np.max, None),
    np.minimum: (np.min, None),
    np.logical_and: (np.all, None),
    np.logical_or: (np.any, None),
}
"""What `reduce` and `accumulate` of a function of two are."""


class Calls(Tests):
    """Calls of all kinds."""

    def evaluate_call(self, site: Site, node: ast.Call, frame: Frame) -> Any:
        function = self.evaluate(node.func, frame)
        given = self.items(node.args, frame)
        named = dict[str, Any]()
        for keyword in node.keywords:
            if keyword.arg is None:
                raise site.error("PL0134", f"`{site.source_text}` passes arguments by `**`", "name every argument")
            named[keyword.arg] = self.evaluate(keyword.value, frame)
        return self.call(site, function, given, named)

    def call(self, site: Site, function: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        if isinstance(function, Bound):
            return self.method(site, function, given, named)
        if isinstance(function, Generator):
            return self.sum_generator(site, function, given[0])
        if len(given) == 1 and _is_element_type(function):
            return astype(site, self.data(site, given[0]), function)
        if function is range:
            return make_range(site, *given)
        if function is enumerate and given:
            start = named.get("start", given[1] if len(given) > 1 else Affine())
            return Enumeration(given[0], start)
        if function is zip:
            return Zip(tuple(given))
        if function is reversed and len(given) == 1:
            return reverse(site, given[0])
        if function in (tuple, list) and len(given) == 1:
            listed = sequence(site, given[0])
            return given[0] if listed is None else tuple(listed)
        # Methods of NumPy's functions are new objects each time, which no table can hold.
        if isinstance(getattr(function, "__self__", None), np.ufunc):
            return self.ufunc_method(site, function, given, named)
        try:
            handler = FUNCTIONS.get(function)
        except TypeError:
            handler = None
        if handler is not None:
            found = call_handler(handler, site, [self.data(site, g) for g in given], named)
            return _as_strong(site, function, found)
        if _is_written_in_python(function):
            return self.inline(site, function, given, named)
        raise self.unknown_call(site, function)

    def ufunc_method(self, site: Site, method: Any, given: Sequence[Any], named: dict[str, Any]) -> Any:
        """`np.add.outer(x, y)`, and `np.maximum.reduce(x)` along the first axis."""
        if method.__name__ == "outer" and len(given) == 2 and not named:
            a, b = (site.data(self.data(site, g)) for g in given)
            index = (Ellipsis, *[None] * len(b.shape))
            return self.call(site, method.__self__, [index_array(site, a, index) if a.shape else a, b], {})
        function = _REDUCTIONS.get(method.__self__)
        if method.__name__ in ("reduce", "accumulate") and function is not None and given:
            chosen = function[0 if method.__name__ == "reduce" else 1]
            if chosen is not None:
                return self.call(site, chosen, given, {"axis": Affine(), **named} if len(given) == 1 else named)
        raise self.unknown_call(site, method)

    def method(self, site: Site, method: Bound, given: Sequence[Any], named: dict[str, Any]) -> Any:
        owner, name = method.owner, method.name
        if name == "astype" and given:
            return astype(site, owner, *given, **named)
        if name == "reshape":
            return reshape(site, owner, *given, **named)
        if name == "flatten":
            return self.call(site, np.copy, [ravel(site, owner)], {})
        if name in ("item", "tolist") and not given and isinstance(owner, Data) and not owner.shape:
            return owner
        if name == "fill" and len(given) == 1:
            site.store(owner, given[0])
            return None
        if name == "bit_count" and isinstance(owner, Data):
            raise site.error("PL0134", f"`{site.source_text}` cannot stand in a kernel of arrays", "write it in loops")
        if name in METHODS:
            return self.call(site, METHODS[name], [owner, *given], named)
        help = suggestion(name, METHODS, "the page of arrays lists methods")
        raise site.error("PL0134", f"arrays have no method `{name}` in a kernel", help)

    def unknown_call(self, site: Site, function: Any) -> PolyloomError:
        name = getattr(function, "__name__", type(function).__name__)
        if function is print:
            message = "a kernel of whole arrays prints nothing"
            help = "return what is to be seen, as a further result; a kernel of loops prints elements, `print(x[i])`"
            return site.error("PL1510", message, help)
        if function is np.hypot:
            # It neither overflows nor underflows between its operations, for which single precision has no room.
            return site.error("PL0134", f"`{name}` cannot be called in a kernel", "write np.sqrt(x * x + y * y)")
        known = [f.__name__ for f in FUNCTIONS if hasattr(f, "__name__")]
        help = suggestion(
            name, known, "the page of arrays lists what a kernel calls; others are written as functions of Python"
        )
        return site.error("PL0134", f"`{name}` cannot be called in a kernel", help)

    def items(self, nodes: Sequence[ast.expr], frame: Frame) -> list[Any]:
        """Values of expressions, some of which stand for several."""
        found = list[Any]()
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += sequence(self.site(node, frame), self.evaluate(node.value, frame)) or ()
            else:
                found.append(self.evaluate(node, frame))
        return found


def _as_strong(site: Site, function: Any, found: Any) -> Any:
    """What a function of NumPy's gives is of NumPy's types, also of a number of Python's."""
    module = str(getattr(function, "__module__", None) or "numpy")
    if module.partition(".")[0] != "numpy" or not isinstance(found, float | Data):
        return found
    data = site.data(found)
    return Data(data.value, wide=data.wide, exact=data.exact, is_view=data.is_view)


def _is_written_in_python(function: object) -> bool:
    return isinstance(function, FunctionType | Closure) or hasattr(function, "function")


def _is_element_type(function: object) -> bool:
    return isinstance(function, type) and function in NAMED
