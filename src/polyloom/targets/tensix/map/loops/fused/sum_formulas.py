# SPDX-License-Identifier: Apache-2.0
"""Formulas of several products, with the part that reads one of them alone as a stage behind that product: where a
machine computes the formula of a product's sums while it multiplies, `silu(h @ gate) * (h @ up)` is computed in two
parts, each beside a product (loop distribution by data flow; Allen and Kennedy, Optimizing Compilers, 2001, section
2.2).

A part is a stage where it has a function or a quotient: anything shorter costs more as a stage than it saves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.ir.formula import Apply, Leaf, Term, leaves, result_element, rewrite_term, subterms
from polyloom.ir.stage import Fold, Formula, Product, Program, Stage
from polyloom.names import fresh_name

_LONG: Final = ("div", "sqrt", "exp", "exp2", "log", "sin", "cos", "tanh")


def split_sum_formulas(program: Program) -> Program:
    """Program of the same arrays, and one more for each part."""
    stages, taken = list(program.stages), {*program.types}
    types, shapes = dict(program.types), dict(program.shapes)
    for formula in program.stages:
        if not isinstance(formula, Formula) or isinstance(formula, Fold):
            continue
        products = _private_products(formula, program)
        # The last product's sums are those that the formula itself is computed beside.
        for product in products[:-1]:
            part = _find_part(formula.term, product.result)
            if part is None:
                continue
            name = fresh_name(product.result, taken)
            taken.add(name)
            types[name], shapes[name] = types[formula.result], shapes[formula.result]
            made = replace(formula, result=name, term=part, label=product.label)
            rest = replace(formula, term=_replace_part(formula.term, part, result_element(name, formula.dims)))
            stages[_position(stages, formula.result)] = formula = rest
            stages.insert(_position(stages, product.result) + 1, made)
    return replace(program, stages=tuple(stages), types=types, shapes=shapes)


def _private_products(formula: Formula, program: Program) -> list[Product]:
    """Products that only this formula reads, each at its own place, in their order."""
    outputs, own = {output.definition for output in program.outputs}, result_element("", formula.dims).index
    found = list[Product]()
    for stage in program.stages:
        if not isinstance(stage, Product) or stage.result in outputs:
            continue
        readers = [other.result for other in program.stages if stage.result in other.reads]
        places = {leaf.index for leaf in leaves(formula.term) if leaf.array == stage.result}
        if readers == [formula.result] and places == {own}:
            found.append(stage)
    return found


def _find_part(term: Term, array: str) -> Term | None:
    """Largest part that reads this array alone, as nothing else of the formula does; None where that is short."""
    parts = [p for p in subterms(term) if isinstance(p, Apply) and {leaf.array for leaf in leaves(p)} == {array}]
    long = [p for p in parts if any(isinstance(s, Apply) and s.operation in _LONG for s in subterms(p))]
    largest = max(long, key=lambda part: len(list(subterms(part))), default=None)
    if largest is None or largest == term:
        return None
    rest = _replace_part(term, largest, Leaf("", ()))
    return None if any(leaf.array == array for leaf in leaves(rest)) else largest


def _replace_part(term: Term, part: Term, by: Leaf) -> Term:
    return rewrite_term(term, lambda each: by if each == part else None)


def _position(stages: list[Stage], result: str) -> int:
    return next(n for n, stage in enumerate(stages) if stage.result == result)
