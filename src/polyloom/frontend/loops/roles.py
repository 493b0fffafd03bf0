# SPDX-License-Identifier: Apache-2.0
"""Roles of the integer variables of a function: loops, parameters of the nest, or data.

An integer passed by value is a parameter when an extent, a bound or a subscript needs it, or a condition compares it
with a loop variable; otherwise it is a scalar input. A local integer that is never assigned after its declaration may
name an affine value. Parameters are those of a static control part (Feautrier 1991).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from polyloom.frontend.loops.affine import COMPARISONS, callee_name
from polyloom.frontend.loops.tree import Node, strip_casts
from polyloom.frontend.loops.types import COUNTING, SHORT


@dataclass(frozen=True, slots=True)
class Roles:
    """Identities of declarations: variables of `for`, integers that sizes are made of, variables that are assigned
    (not by `for`), and counters: integers of the function's own that bounds and subscripts depend on, and that are
    assigned or initialized; `sized` are all of those; `data` are variables that depend on elements of arrays."""

    loops: frozenset[str]
    parameters: frozenset[str]
    assigned: frozenset[str]
    counters: frozenset[str] = frozenset()
    sized: frozenset[str] = frozenset()
    data: frozenset[str] = frozenset()


def find_roles(function: Node, sized: Collection[str], constants: Collection[str]) -> Roles:
    """Roles by a backward closure over assignments; `sized` are the names of the integers that extents use, `constants`
    the identities of the file's.
    """
    integers = {n.symbol for n in function.inner if n.kind == "parameter" and n.ctype in (*COUNTING, *SHORT)}
    needed = {n.symbol for n in function.inner if n.kind == "parameter" and n.name in sized}
    own = {n.symbol for n in function if n.kind == "variable" and n.ctype in (*COUNTING, *SHORT)}
    sources = dict[str, list[Node]]()
    for name, source in _assignments(function):
        sources.setdefault(name, []).append(source)
    loops = frozenset(_loop_symbols(function))
    needed.update(_variable_symbols(_affine_positions(function)))
    before = -1
    # A fixed point: an integer that is compared with one that is needed, or that is assigned to one, is needed, too.
    while len(needed) > before:
        before = len(needed)
        needed.update(_variable_symbols(source for name in needed & own for source in sources.get(name, ())))
        needed.update(_compared_integers(function, loops, integers.union(constants), needed))
        needed.update(_deciding_integers(function, needed & own) & own)
    assigned = frozenset(_assigned_variables(function))
    sizes = frozenset(needed & own)
    # Also those of one value, such as `int low = i < n ? i : n;`, which conditions may decide.
    initialized = frozenset(n.symbol for n in function if n.kind == "variable" and n.initial)
    counters = sizes & (assigned | (initialized - loops))
    return Roles(loops, frozenset(needed & integers), assigned, counters, sizes, _data_slice(function, sources))


def _assignments(function: Node) -> Iterator[tuple[str, Node]]:
    """Assignments of a function: each variable with an expression that it is assigned."""
    for node in function:
        if node.kind == "variable" and node.initial:
            yield node.symbol, node.inner[-1]
        elif (node.opcode == "=" or node.kind == "update") and node.inner:
            left = node.inner[0]
            if left.kind == "name":
                yield left.symbol, node.inner[1]


def _data_slice(function: Node, sources: Mapping[str, list[Node]]) -> frozenset[str]:
    """Forward slice (Weiser 1984) of elements: the variables that they are assigned to, or decide."""
    found, before = set[str](), -1
    while len(found) > before:
        before = len(found)
        found |= {name for name, given in sources.items() if any(depends_on_data(each, found) for each in given)}
        branches = (n for n in function if n.kind == "if" and depends_on_data(n.inner[0], found))
        found |= {_assigned_name(n) for branch in branches for side in branch.inner[1:] for n in side} - {""}
    return frozenset(found)


def depends_on_data(expression: Node, data: Collection[str]) -> bool:
    """Whether an expression reads an element or a floating-point number, or one of the variables that depend on
    data.
    """
    return any(
        n.kind in ("element", "member")
        or n.ctype in ("float", "double")
        or (n.kind == "unary" and n.opcode == "*")
        or n.symbol in data
        for n in expression
    )


def loop_variable(loop: Node) -> Node | None:
    """The declaration of, or the reference to, the variable that a `for` initializes."""
    first = loop.inner[0]
    if first.kind == "declare" and len(first.inner) == 1 and first.inner[0].initial:
        return first.inner[0]
    if first.kind == "binary" and first.opcode == "=" and first.inner[0].kind == "name":
        return first.inner[0]
    return None


def variable_symbol(variable: Node) -> str:
    """Identity of a variable, from its declaration or from a reference to it."""
    return variable.symbol


def _loop_symbols(function: Node) -> Iterator[str]:
    for node in function:
        variable = loop_variable(node) if node.kind == "for" else None
        if variable is not None and variable.ctype in (*COUNTING, *SHORT):
            yield variable_symbol(variable)


def _affine_positions(function: Node) -> Iterator[Node]:
    """The expressions that must be affine."""
    for node in function:
        if (asserted := assumption(node)) is not None:
            yield asserted
        if node.kind == "element":
            yield node.inner[1]
        elif node.kind == "for":
            yield node.inner[0]
            yield node.inner[2]
            yield node.inner[3]
        elif node.kind == "while":
            yield node.inner[0]
        elif node.kind == "do":
            yield node.inner[1]


def assumption(node: Node) -> Node | None:
    """Assumption on a function's parameters that `__builtin_assume(...)` or `assert(...)` states (C17, section 7.2);
    None for other statements.
    """
    node = strip_casts(node)
    if node.kind == "assume":
        return node.inner[0]
    if node.kind == "call" and callee_name(node) == "__builtin_assume":
        return node.inner[1]
    # The headers of musl expand `assert(c)` to `(void)(c || __assert_fail(...))`.
    either = strip_casts(node.inner[0]) if node.kind == "cast" and node.ctype == "void" else node
    fails = either.opcode == "||" and any(
        n.kind == "call" and callee_name(n) == "__assert_fail" for n in either.inner[1]
    )
    return either.inner[0] if fails else None


def _variable_symbols(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        yield from (n.symbol for n in node if n.kind == "name")


def _compared_integers(function: Node, loops: frozenset[str], integers: set[str], needed: set[str]) -> Iterator[str]:
    """The integers that conditions compare with loop variables or with what is needed, and with nothing else."""
    for node in function:
        if node.kind in ("if", "choose"):
            for comparison in (n for n in node.inner[0] if n.opcode in COMPARISONS):
                names = set(_variable_symbols((comparison,)))
                if (
                    names & (loops | needed)
                    and names <= loops | needed | integers
                    and not any(n.kind in _DATA for n in comparison)
                ):
                    yield from names


def _deciding_integers(function: Node, sizes: Collection[str]) -> set[str]:
    """The variables on which it depends what one of `sizes` is assigned (control dependence: Ferrante, Ottenstein and
    Warren 1987), by comparisons of integers alone.
    """
    branches = (node for node in function if node.kind == "if" and not any(n.kind in _DATA for n in node.inner[0]))
    deciding = (node for node in branches if any(_assigned_name(n) in sizes for side in node.inner[1:] for n in side))
    return {name for node in deciding for name in _variable_symbols(node.inner[:1])}


def _assigned_name(node: Node) -> str:
    assigns = node.opcode in ("=", "++", "--") or node.kind == "update"
    return node.inner[0].symbol if assigns and node.inner and node.inner[0].kind == "name" else ""


_DATA = ("element", "call", "real")


def _assigned_variables(function: Node) -> Iterator[str]:
    headers = {
        id(part)
        for node in function
        if node.kind == "for" and loop_variable(node) is not None
        for part in (node.inner[0], node.inner[3])
    }
    for node in function:
        changes = (
            # A variable whose address is taken may be assigned by whoever gets it.
            node.opcode in ("=", "++", "--") or node.kind == "update" or (node.kind == "unary" and node.opcode == "&")
        )
        if changes and id(node) not in headers and node.inner[0].kind == "name":
            yield node.inner[0].symbol
