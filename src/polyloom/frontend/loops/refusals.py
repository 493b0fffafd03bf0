# SPDX-License-Identifier: Apache-2.0
"""Refusals: diagnostics of what cannot be compiled, in the user's terms, with what to write instead."""

from __future__ import annotations

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.loops.affine import Scope, callee_name
from polyloom.frontend.loops.obstacles import find_obstacle
from polyloom.frontend.loops.roles import assumption, depends_on_data
from polyloom.frontend.loops.tree import Node, refusal, source_text
from polyloom.frontend.loops.types import INTEGER
from polyloom.ir.library import LARGEST_POWER
from polyloom.ir.operations import ElementType

_STATEMENTS = {
    "goto": (
        "this `goto` leaves a loop, or enters one or a branch",
        "jump forward to a label of the same or a surrounding block, or write loops and `if`",
    ),
    "label": (
        "the jumps to this label enter or leave a loop or a branch, or several go back to it",
        "jump forward to a label of the same or a surrounding block, or write loops and `if`",
    ),
    "break": (
        "`break` makes the number of iterations depend on data",
        "run all iterations and guard the assignments by `if`",
    ),
    "continue": ("`continue` jumps over the rest of an iteration", "put the rest of the iteration into an `if`"),
    "switch": (
        "a `case` of this `switch` is a range, or in another statement",
        "write each `case` directly in the body of its `switch`",
    ),
    "return": (
        "`return` ends the function early or returns a value",
        "store results in array parameters, and let the function end at its end",
    ),
}
_EXPRESSIONS = {
    "string": "a string is no value of an element type",
    "sizeof": "`sizeof` is no value of an element type",
    "member": "members of structures cannot be accessed",
    "list": "a list of initial values cannot be compiled",
    "statements": "a statement within an expression cannot be compiled",
    "update": "an assignment within an expression cannot be compiled",
}


def refuse_statement(node: Node) -> PolyloomError:
    """Refusal of a statement that is not a loop, a branch or an assignment: PL0156, PL0157."""
    if (asserted := assumption(node)) is not None:
        return refuse_assertion(asserted)
    if node.kind == "call":
        return refuse_call(node)
    if node.kind in ("while", "do"):
        return refuse_uncounted_loop(node, depends_on_data(node.inner[node.kind == "do"], ()))
    if node.kind in _STATEMENTS:
        message, help = _STATEMENTS[node.kind]
        return refusal("PL0156", message, node, f"{help}; a processor, `--on riscv`, runs the function as it is")
    return refusal(
        "PL0156", "this statement does nothing that can be compiled", node, "write loops, `if` and assignments"
    )


def refuse_uncounted_loop(node: Node, of_data: bool) -> PolyloomError:
    """Refusal of a `while` or `do` whose number of turns is not known, or depends on data: PL0156."""
    reason = "turns as often as data say" if of_data else "has no bounds that are known before it runs"
    help = "compare a counter with a bound, and count it by a constant in every turn"
    help = f"{help}; a processor, `--on riscv`, runs the function as it is"
    return refusal("PL0156", f"a `{node.kind}` loop {reason}", node, help)


def refuse_assertion(asserted: Node) -> PolyloomError:
    """An assertion that says nothing about parameters, or stands elsewhere than at the head."""
    without = "" if asserted.ctype == INTEGER else " by -D NDEBUG"
    help = f"at the head of the function, assert what holds for the sizes; leave other assertions out{without}"
    return refusal("PL0156", "this assertion is no affine condition on parameters", asserted, help)


def refuse_call(node: Node, own: bool = False) -> PolyloomError:
    """Refusal of a call of a function that is not one of the operations, or of the file's `own` of that
    name: PL0157.
    """
    name = callee_name(node)
    if own:
        help = f"give `{name}` another name: C's library has a function of this one"
        return refusal("PL0157", f"the file's own function `{name}` cannot be called here", node, help)
    help = "call a function of the file, or one of those that the page of C lists, such as sqrtf and expf"
    if name.removeprefix("__builtin_") in ("memcpy", "memmove", "memset"):
        help = "write a loop; `memset` and `memcpy` are for whole elements of one type: `memset(a, 0, n * sizeof a[0])`"
    return refusal(
        "PL0157",
        f"the function `{name}` cannot be called here" if name else "a computed function cannot be called",
        node,
        help,
    )


def refuse_expression(node: Node) -> PolyloomError:
    """Refusal of an expression that is none of the operations: PL0154, PL0157, PL0160, PL0161."""
    if node.kind == "call":
        return refuse_call(node)
    if node.kind in _EXPRESSIONS:
        return refusal("PL0160", _EXPRESSIONS[node.kind], node)
    if node.ctype == "long double":
        return refusal("PL0154", "this is computed in `long double`, which no machine has", node, "compute in `double`")
    if node.opcode == "&" and node.kind == "unary":
        return refusal("PL0161", "an address is no value of an element type", node, "name elements as in A[i][j]")
    if node.opcode in ("=", "++", "--"):
        return refusal(
            "PL0160", "an assignment within an expression cannot be compiled", node, "make it a statement of its own"
        )
    if node.opcode == ",":
        return refusal("PL0160", "the comma operator cannot be compiled", node, "write two statements")
    return refusal("PL0160", f"this expression of the type `{node.ctype}` cannot be compiled", node)


def refuse_width(node: Node) -> PolyloomError:
    """Data that become a number of 64 bits."""
    part = next((n for n in node if n.kind == "integer" and n.ctype == node.ctype and n.text), None)
    suffix = f"write `{part.text.rstrip('lL')}` instead of `{part.text}`, or " if part is not None else ""
    unsigned = node.ctype.startswith("unsigned")
    help = (
        f"{suffix}compute in `{'unsigned' if unsigned else 'int'}` or `double`: with 64 bits there are "
        "sums, products, shifts, `&`, `|`, `^`, comparisons, and conversions to and from narrower integers"
    )
    return refusal("PL0163", f"this is computed in `{node.ctype}`, which has 64 bits", node, help)


def refuse_operation(node: Node, dtype: ElementType) -> PolyloomError:
    """An operation that its type does not have."""
    help = f"convert the operands to {'f32' if dtype == 'f16' else 'i32'}"
    return refusal("PL0164", f"this operation does not exist for {dtype}: `{source_text(node)}`", node, help)


def refuse_division(node: Node) -> PolyloomError:
    """A division by the constant 0."""
    return refusal("PL0233", f"`{source_text(node)}` divides by zero", node, "divide by another value")


def refuse_constant(node: Node, number: int, dtype: ElementType) -> PolyloomError:
    """A constant that its element does not have."""
    return refusal("PL0143", f"{number} is no {dtype}", node, "use a constant in range, or declare a wider type")


def refuse_affine_value(node: Node, scope: Scope) -> PolyloomError:
    """An integer that never wraps, and is not affine."""
    found = find_obstacle(node, scope)
    if found.part.kind == "name":
        return refuse_unknown(found.part, scope)
    return refusal("PL0143", f"a value {found.reason}", found.part, "convert its operands to an element type")


def refuse_single(node: Node) -> PolyloomError:
    """A function in double precision that has a kernel in single precision only."""
    name = node.name
    help = f"call `{name}f`, whose kernel is on the page of C, or write the function out"
    return refusal("PL0154", f"`{name}` computes in double precision, for which there is no kernel of it", node, help)


def refuse_power(node: Node) -> PolyloomError:
    """A power that is no product."""
    help = "write an integer constant as the exponent, 2.0f as the base, `sqrtf` for 0.5, or `expf` of a product"
    message = f"only powers with a constant integer exponent, up to {LARGEST_POWER}, and those of 2 are computed"
    return refusal("PL0157", message, node.inner[1], help)


def refuse_index_type(node: Node) -> PolyloomError:
    """An index that is data of another type than an integer."""
    message = f"an index is no integer: `{source_text(node)}`"
    return refusal("PL0162", message, node, "convert it to an integer type")


def refuse_index(node: Node, array: str, scope: Scope, rank: int) -> PolyloomError:
    """A subscript that is not affine."""
    found = find_obstacle(node, scope)
    rows = f"; where `{array}` holds rows of m elements, give --shape {array}=n,m"
    is_linear = found.part.opcode == "*" and rank == 1 and found.part.ctype != INTEGER
    help = found.help + rows * is_linear
    return refusal("PL0162", f"a subscript of `{array}` {found.reason}", found.part, help)


def refuse_pointer(node: Node) -> PolyloomError:
    return refusal(
        "PL0161",
        "elements are accessed by subscripts of an array's name only",
        node,
        "write A[i][j] instead of computing with pointers",
    )


def refuse_unknown(node: Node, scope: Scope) -> PolyloomError:
    """A name that has no value here."""
    name = node.name
    if node.symbol in scope.loops:
        return refusal(
            "PL0165",
            f"the loop variable `{name}` is used where its value is not known",
            node,
            "use it behind its loop in the same block, or write the value that is meant, such as a bound of the loop",
        )
    if not set("(*") & set(node.ctype):
        return refusal(
            "PL0165",
            f"`{name}` is neither a parameter nor a variable of the function",
            node,
            f"make `{name}` a parameter",
        )
    return refusal("PL0160", f"`{name}` is no value", node)


def refuse_rank(node: Node, name: str, expected: int, given: int) -> PolyloomError:
    dimensions = f"{expected} dimension{'s' * (expected != 1)}" if expected else "no dimension: it is a scalar"
    return refusal(
        "PL0161",
        f"`{name}` has {dimensions}, and {given} subscript{'s' * (given != 1)} here",
        node,
        "access single elements only",
    )
