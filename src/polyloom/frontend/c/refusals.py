# SPDX-License-Identifier: Apache-2.0
"""What cannot be compiled, said in the user's terms, with what to write instead."""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.affine import Scope, callee, obstacle
from polyloom.frontend.c.roles import assumption
from polyloom.frontend.c.tree import Node, refuse

_IN_SINGLE = {"sqrt": "sqrtf", "fabs": "fabsf", "fmin": "fminf", "fmax": "fmaxf", "fma": "fmaf"}
_STATEMENTS = {
    "WhileStmt": (
        "a `while` loop has no bounds that are known before it runs",
        "compare a counter with a bound, and count it by a constant in every turn",
    ),
    "DoStmt": ("a `do` loop has no bounds that are known before it runs", "write a `for` loop over a range"),
    "GotoStmt": ("`goto` leaves the order of loops", "write loops and `if`"),
    "LabelStmt": ("a label is a place for `goto`, which leaves the order of loops", "write loops and `if`"),
    "BreakStmt": (
        "`break` makes the number of iterations depend on data",
        "run all iterations and guard the assignments by `if`",
    ),
    "ContinueStmt": ("`continue` jumps over the rest of an iteration", "put the rest of the iteration into an `if`"),
    "SwitchStmt": ("`switch` is a jump", "write `if` and `else`"),
    "ReturnStmt": (
        "`return` ends the function early or returns a value",
        "store results in array parameters, and let the function end at its end",
    ),
}
_EXPRESSIONS = {
    "StringLiteral": "a string is no value of an element type",
    "UnaryExprOrTypeTraitExpr": "`sizeof` is no value of an element type",
    "MemberExpr": "members of structures cannot be accessed",
    "InitListExpr": "a list of initial values cannot be compiled",
    "StmtExpr": "a statement within an expression cannot be compiled",
    "CompoundAssignOperator": "an assignment within an expression cannot be compiled",
}


def statement(node: Node) -> PolyloomError:
    """A statement that is not a loop, a branch or an assignment."""
    if (asserted := assumption(node)) is not None:
        return assertion(asserted)
    if node.kind == "CallExpr":
        return call(node)
    if node.kind in _STATEMENTS:
        message, help = _STATEMENTS[node.kind]
        return refuse("PL0156", message, node, f"{help}; a processor, `--on riscv`, runs the function as it is")
    return refuse(
        "PL0156", "this statement does nothing that can be compiled", node, "write loops, `if` and assignments"
    )


def assertion(asserted: Node) -> PolyloomError:
    """An assertion that says nothing about parameters, or stands elsewhere than at the head."""
    help = "assert what sizes satisfy, at the head of the function; leave other assertions out by -D NDEBUG"
    return refuse("PL0156", "this assertion is no affine condition on parameters", asserted, help)


def call(node: Node, own: bool = False) -> PolyloomError:
    """A call of a function that is not one of the operations, or the file's `own` of that name."""
    name = callee(node)
    if own:
        help = f"give `{name}` another name: C's library has a function of this one"
        return refuse("PL0157", f"the file's own function `{name}` cannot be called here", node, help)
    # The function exists, but promotes to double: its single counterpart is what is meant.
    if name in _IN_SINGLE:
        return refuse("PL0157", f"`{name}` computes in double precision", node, f"call `{_IN_SINGLE[name]}`")
    help = "call sqrtf, fabsf, fminf, fmaxf, fmaf or abs, or a function of the file; write out others"
    return refuse(
        "PL0157",
        f"the function `{name}` cannot be called here" if name else "a computed function cannot be called",
        node,
        help,
    )


def expression(node: Node) -> PolyloomError:
    """An expression that is none of the operations."""
    if node.kind == "CallExpr":
        return call(node)
    if node.kind in _EXPRESSIONS:
        return refuse("PL0160", _EXPRESSIONS[node.kind], node)
    if "unsigned" in node.ctype or node.ctype in ("long", "long long", "size_t"):
        return refuse(
            "PL0160",
            f"the type `{node.ctype}` is not supported",
            node,
            "compute in `int`; constants have no suffix u or l",
        )
    if node.opcode == "&" and node.kind == "UnaryOperator":
        return refuse("PL0161", "an address is no value of an element type", node, "name elements as in A[i][j]")
    if node.opcode in ("=", "++", "--"):
        return refuse(
            "PL0160", "an assignment within an expression cannot be compiled", node, "make it a statement of its own"
        )
    if node.opcode == ",":
        return refuse("PL0160", "the comma operator cannot be compiled", node, "write two statements")
    return refuse("PL0160", f"this expression of the type `{node.ctype}` cannot be compiled", node)


def double_precision(node: Node) -> PolyloomError:
    """A computation in double precision: at the constant that promotes it, at the function, or at the conversion."""
    # The usual culprit: `0.5 * x` without the suffix promotes everything around it.
    literal = next((n for n in _promoted(node) if n.kind == "FloatingLiteral"), None)
    if literal is not None:
        message = (
            f"{f'`{literal.text}`' if literal.text else 'this'} is a constant of the type double, so this is "
            "computed in double precision"
        )
        help = f"write `{literal.text}f`" if literal.text else "give it the suffix `f`"
        return refuse("PL0154", message, literal, f"{help}, or give --single-constants")
    function = next((n for n in _promoted(node) if n.kind == "CallExpr"), None)
    if function is not None:
        return call(function)
    return refuse("PL0154", "this is computed in double precision", node, "compute in `float`")


def _promoted(node: Node) -> Iterator[Node]:
    """The parts of an expression that are computed in double precision."""
    if node.ctype in ("double", "long double"):
        yield node
        for child in node.inner:
            yield from _promoted(child)


def conversion(node: Node, message: str) -> PolyloomError:
    """A value of one element type where another one stands."""
    return refuse(
        "PL0163", message, node, "there are no conversions between element types: declare both with the same type"
    )


def index(node: Node, array: str, scope: Scope, rank: int) -> PolyloomError:
    """A subscript that is not affine."""
    part, reason = obstacle(node, scope)
    help = "subscripts are sums of loop variables and parameters times integer constants"
    if reason == "depends on data":
        help += "; access all elements and select, or run the function as it is on a processor, `--on riscv`"
    linear = (
        f"; where `{array}` holds rows of m elements, give --shape {array}=n,m"
        if part.opcode == "*" and rank == 1
        else ""
    )
    return refuse("PL0162", f"a subscript of `{array}` {reason}", part, help + linear)


def pointer(node: Node) -> PolyloomError:
    return refuse(
        "PL0161",
        "elements are accessed by subscripts of an array's name only",
        node,
        "write A[i][j] instead of computing with pointers",
    )


def unknown(node: Node, scope: Scope) -> PolyloomError:
    """A name that has no value here."""
    name, kind = node.data["referencedDecl"].get("name", ""), node.data["referencedDecl"].get("kind", "")
    if node.declaration in scope.loops:
        return refuse(
            "PL0165",
            f"the loop variable `{name}` is used outside of its loop",
            node,
            "write the value that is meant, such as a bound of the loop",
        )
    if kind == "VarDecl":
        return refuse(
            "PL0165",
            f"`{name}` is neither a parameter nor a variable of the function",
            node,
            f"make `{name}` a parameter",
        )
    return refuse("PL0160", f"`{name}` is no value", node)


def rank(node: Node, name: str, expected: int, given: int) -> PolyloomError:
    dimensions = f"{expected} dimension{'s' * (expected != 1)}" if expected else "no dimension: it is a scalar"
    return refuse(
        "PL0161",
        f"`{name}` has {dimensions}, and {given} subscript{'s' * (given != 1)} here",
        node,
        "access single elements only",
    )
