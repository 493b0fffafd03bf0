# SPDX-License-Identifier: Apache-2.0
"""Statement tree of both languages: nodes with types and with spans in the user's text.

Every conversion is a node, and quotients say how they round, so that no rule of a language (C17, section 6.3.1; NumPy
enhancement proposal NEP 50, 2021) is decided behind the tree. A language lowers a new construct to nodes in one line;
what it becomes is read here once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.sets import Affine

CASTS: Final = ("convert", "cast")
STEPS: Final = "steps"
"""Text of a loop whose iterations the user makes steps."""
"""Conversions of the language, and those that the text has."""
# clang's conversions that only say how a value is got: loads, array and function decay (C17, section 6.3.2.1).
_SAME_VALUE = {"LValueToRValue", "NoOp", "ArrayToPointerDecay", "FunctionToPointerDecay", "BuiltinFnToFnPtr"}


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A statement, an expression or a declaration. `ctype` is the type in C's words, without typedefs and qualifiers:
    `float`, `signed char`, `float (*)[n]`, or `integer` for numbers that never wrap.

    `opcode` is an operator, a kind of conversion, or the name of an operation of `ir.operations`; `/` and `%` round
    towards zero, `//` and `mod` down. `name` and `symbol`, an identity, are of what is declared or named, or called;
    `value` is a literal's, or the affine form of sizes; `types` are those in which an update computes and of
    its result, that of an operation's operands, or `sizeof`'s; `text` is how a literal is written, also within a
    macro, or `STEPS` of a loop of steps; `macro` is the one whose expansion a node stands in. `initial` says that a
    variable has a value, which is its last child; `qualified` is its type as written, `storage` its class. An absent
    child, such as a missing condition of `for`, has the kind ""."""

    kind: str
    span: Span
    ctype: str = ""
    inner: tuple[Node, ...] = ()
    opcode: str = ""
    name: str = ""
    symbol: str = ""
    value: int | float | str | Affine | None = None
    types: tuple[str, ...] = ()
    text: str = ""
    macro: str | None = None
    initial: bool = False
    qualified: str = ""
    storage: str = ""
    postfix: bool = False
    arrow: bool = False

    def __iter__(self) -> Iterator[Node]:
        """This node and everything below it, from left to right."""
        # Not recursive: sums of thousands of terms are nested as deep.
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.inner))


def strip_casts(node: Node) -> Node:
    """The expression without parentheses and without conversions that keep its value and its type."""
    while node.kind in ("parentheses", "constant") or (node.kind in CASTS and _preserves_type(node)):
        node = node.inner[0]
    return node


def _preserves_type(cast: Node) -> bool:
    return cast.opcode in _SAME_VALUE or (
        cast.opcode in ("IntegralCast", "FloatingCast") and cast.ctype == cast.inner[0].ctype
    )


def source_text(node: Node) -> str:
    """The first line of a part as it stands in the text."""
    text = node.span.source.text[node.span.start : node.span.end]
    return text.partition("\n")[0]


def refusal(code: str, message: str, node: Node, help: str | None = None, *notes: str) -> PolyloomError:
    """The diagnostic at `node`, with a note where a macro hides it."""
    expanded = (f"this is in the expansion of the macro `{node.macro}`",) if node.macro else ()
    return input_error(code, message, span=node.span, notes=(*notes, *expanded), help=help)
