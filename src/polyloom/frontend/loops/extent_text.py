# SPDX-License-Identifier: Apache-2.0
"""Array extents, which are texts in a type, as affine forms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from polyloom.sets import Affine

NAME = re.compile(r"\b[^\W\d]\w*")


def extent_texts(type: str) -> list[str]:
    """The texts between brackets of a type or of a declarator, outermost first."""
    return [
        re.sub(r"^(?:(?:static|const|restrict|volatile) ?)+", "", text).strip()
        for text in re.findall(r"\[([^\]]*)\]", type)
    ]


def affine_text(text: str, symbols: Mapping[str, Affine]) -> Affine | None:
    """Affine form of an extent that clang printed; None when it is not affine in `symbols`. C and Python agree on these
    expressions, but for names: some are keywords of Python.
    """
    places = dict.fromkeys(identifiers(text))
    numbered = {name: f"_{n}" for n, name in enumerate(places)}
    known = {numbered[name]: symbols[name] for name in places if name in symbols}
    try:
        return _affine_tree(ast.parse(NAME.sub(lambda name: numbered[name[0]], text), mode="eval").body, known)
    except (SyntaxError, KeyError, ValueError):
        return None


def _affine_tree(tree: ast.expr, symbols: Mapping[str, Affine]) -> Affine:
    match tree:
        case ast.Constant(value=int(value)):
            return Affine((), value)
        case ast.Name(id=name):
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_affine_tree(operand, symbols)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _affine_tree(left, symbols) + _affine_tree(right, symbols)
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return _affine_tree(left, symbols) - _affine_tree(right, symbols)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            a, b = _affine_tree(left, symbols), _affine_tree(right, symbols)
            if a.is_constant or b.is_constant:
                return b * a.constant if a.is_constant else a * b.constant
        case _:
            pass
    raise ValueError


def identifiers(text: str) -> Iterator[str]:
    """The identifiers of an extent."""
    yield from NAME.findall(text)
