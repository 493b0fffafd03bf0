# SPDX-License-Identifier: Apache-2.0
"""Expressions: what each stands for, from the names of a function and the objects of its module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Generator as Iteration
from contextlib import contextmanager
from typing import Any, Final

from polyloom.frontend.python.arrays.calls import Calls
from polyloom.frontend.python.arrays.functions.elementwise import FUNCTIONS, MOST_BITS, MOST_ITEMS, binary
from polyloom.frontend.python.arrays.functions.products import matmul
from polyloom.frontend.python.arrays.iterables import Range, sequence
from polyloom.frontend.python.arrays.names import Closure, Frame
from polyloom.frontend.python.arrays.site import Site
from polyloom.frontend.python.arrays.values import (
    Data,
    Generator,
    as_sequence,
    is_mask,
    truth,
)
from polyloom.frontend.python.refused_syntax import EXPRESSIONS, refuse_syntax
from polyloom.ir.arrays.program import Apply
from polyloom.ir.arrays.verify import print_shape
from polyloom.sets import Affine

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}


class Evaluator(Calls):
    """Expressions."""

    def evaluate(self, node: ast.expr, frame: Frame) -> Any:
        """What an expression stands for. Errors: PL0143 for integers that no double holds."""
        found = self.evaluate_expression(node, frame)
        numbers = (found.constant, *(factor for _, factor in found.terms)) if isinstance(found, Affine) else ()
        if any(number.bit_length() > MOST_BITS for number in numbers):
            site = self.site(node, frame)
            message = f"`{site.source_text[:40]}` has more than {MOST_BITS} bits"
            raise site.error("PL0143", message, "use smaller integers, or floats")
        return found

    def evaluate_expression(self, node: ast.expr, frame: Frame) -> Any:
        site = self.site(node, frame)
        match node:
            case ast.Constant(value=value):
                return self.object(site, value)
            case ast.Name(id=name):
                return self.name(site, name, frame)
            case ast.Attribute(value=base, attr=attribute):
                return self.attribute(site, self.evaluate(base, frame), attribute)
            case ast.Subscript(value=base, slice=index):
                return self.subscript(site, self.evaluate(base, frame), self.evaluate(index, frame))
            case ast.Slice(lower=lower, upper=upper, step=step):
                parts = [None if p is None else self.evaluate(p, frame) for p in (lower, upper, step)]
                return slice(*parts)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return matmul(site, self.evaluate(left, frame), self.evaluate(right, frame))
            case ast.BinOp(left=left, op=operator, right=right):
                return binary(site, SYMBOLS[type(operator)], self.evaluate(left, frame), self.evaluate(right, frame))
            case ast.UnaryOp(op=operator, operand=operand):
                return self.unary(site, operator, self.evaluate(operand, frame))
            case ast.Compare(left=left, ops=relations, comparators=others):
                sides = [self.evaluate(side, frame) for side in (left, *others)]
                found = [
                    self.compare(site, relation, a, b)
                    for relation, a, b in zip(relations, sides, sides[1:], strict=False)
                ]
                return self.join_conditions(site, "and", found)
            case ast.BoolOp(op=operator, values=values):
                return self.tests(site, "and" if isinstance(operator, ast.And) else "or", values, frame)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.choice(site, self.evaluate(test, frame), body, orelse, frame)
            case ast.Call():
                return self.evaluate_call(site, node, frame)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.items(items, frame))
            case ast.GeneratorExp():
                return Generator((node, frame))
            case ast.ListComp():
                return self.comprehension(site, node, frame)
            case ast.Lambda():
                return Closure(node, frame)
            case _:
                raise refuse_syntax(frame.text, node, node, EXPRESSIONS)

    def comprehension(self, site: Site, node: ast.ListComp, frame: Frame) -> Any:
        """A list over what Python has all elements of."""
        found = list[Any]()

        def run(level: int) -> None:
            if level == len(node.generators):
                found.append(self.evaluate(node.elt, frame))
                return
            part = node.generators[level]
            iterable = self.evaluate(part.iter, frame)
            numbers = constant_range(iterable)
            # A range may be of any length: only so many of its numbers become forms.
            items = sequence(site, iterable) if numbers is None else [Affine((), n) for n in numbers[: MOST_ITEMS + 1]]
            if items is not None and len(found) + len(items) > MOST_ITEMS:
                help = "write a loop that assigns the elements of an array"
                raise site.error("PL0133", f"`{site.source_text}` has more than {MOST_ITEMS} elements", help)
            if items is None or part.ifs:
                help = "write a loop that assigns the elements of an array"
                raise site.error("PL0133", f"`{site.source_text}` has as many elements as a size says", help)
            for item in items:
                self.assign_names(part.target, item, frame)
                run(level + 1)

        before = {**frame.names}
        run(0)
        frame.names = before
        return tuple(found)

    def assign_names(self, target: ast.expr, value: Any, frame: Frame) -> None:
        """Names of a comprehension or a loop, for values that nobody changes."""
        if isinstance(target, ast.Name):
            frame.names[target.id] = value
            return
        parts, items = target.elts if isinstance(target, ast.Tuple | ast.List) else [], as_sequence(value)
        if not parts or items is None or len(parts) != len(items):
            site = self.site(target, frame)
            raise site.error("PL0136", f"`{site.source_text}` does not fit what the loop gives", "name each value")
        for part, each in zip(parts, items, strict=True):
            self.assign_names(part, each, frame)


_REDUCING: Final = (builtins.max, builtins.min)
"""Of one array these are one number."""


class MaskedValues(Evaluator):
    """Masked values: the right side of `y[mask] = x[mask] * 2`, of as many elements as data say, at every element.

    A store under a mask shows only where the mask holds, so that values of the same mask may be computed everywhere
    ("Boolean array indexing" of NumPy's manual). Only element-wise operations of such values and of numbers are known.
    """

    def masked_value(self, node: ast.expr, index: ast.expr, mask: Any, frame: Frame) -> Any:
        """Masked value at all elements, where `index`, of which `mask` is the value, chooses some; any other value as
        it is. Errors: PL0149 for other arrays beside the mask, which have another length."""
        if not is_mask(mask):
            return self.evaluate(node, frame)
        if not selects_elements(node, index):
            return self.number_beside_mask(self.site(node, frame), self.evaluate(node, frame))
        site = self.site(node, frame)
        match node:
            case ast.Subscript(value=base, slice=own) if _is_equal_text(own, index):
                found = self.evaluate(base, frame)
                self.is_same_shape(site, mask, found)
                return found
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SYMBOLS:
                sides = [self.masked_value(side, index, mask, frame) for side in (left, right)]
                with self.guard_mask(site, mask):
                    return binary(site, SYMBOLS[type(operator)], *sides)
            case ast.UnaryOp(op=operator, operand=operand):
                return self.unary(site, operator, self.masked_value(operand, index, mask, frame))
            case ast.Call(func=function, args=given, keywords=[]):
                called = self.evaluate(function, frame)
                if called in FUNCTIONS and called not in _REDUCING:
                    return self.call(site, called, [self.masked_value(g, index, mask, frame) for g in given], {})
                return self.evaluate(node, frame)
            case _:
                return self.evaluate(node, frame)

    def number_beside_mask(self, site: Site, value: Any) -> Any:
        """A number. Errors: PL0149 for an array, which has more elements than a mask chooses."""
        if isinstance(value, Data) and any(e != Affine((), 1) for e in value.shape):
            help = "choose its elements by the same mask: `y[mask] = x[mask]`"
            message = f"the shape {print_shape(value.shape)} stands where a mask chooses elements: `{site.source_text}`"
            raise site.error("PL0149", message, help)
        return value

    def is_same_shape(self, site: Site, mask: Data, base: Any) -> None:
        """Errors: PL0149 where an array has another shape than its mask."""
        if not isinstance(base, Data) or len(mask.shape) != len(base.shape):
            help = "give one of the same shape"
            raise site.error("PL0149", f"the mask of `{site.source_text}` has another shape", help)
        site.common_shape([mask.shape, base.shape])

    @contextmanager
    def guard_mask(self, site: Site, mask: Data) -> Iteration[None]:
        """Where the mask does not hold, nothing faults: there a divisor is 1."""
        outer, test = self.builder.guard, truth(mask.value)
        self.builder.guard = test if outer is None else Apply("and", "i32", (outer, test), site.span)
        try:
            yield
        finally:
            self.builder.guard = outer


def _is_equal_text(a: ast.expr, b: ast.expr) -> bool:
    return ast.dump(a) == ast.dump(b)


def selects_elements(node: ast.expr, index: ast.expr) -> bool:
    """Whether some part chooses its elements by the same text."""
    return any(isinstance(n, ast.Subscript) and _is_equal_text(n.slice, index) for n in ast.walk(node))


def constant_range(items: Any) -> range | None:
    """A range between constants."""
    if isinstance(items, Range) and items.first.is_constant and items.end.is_constant:
        return range(items.first.constant, items.end.constant, items.step)
    return None
