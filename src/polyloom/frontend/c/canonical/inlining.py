# SPDX-License-Identifier: Apache-2.0
"""Inline expansion of the file's own functions (Muchnick 1997, section 15.2): parameters become variables, `*p` of a
parameter that gets `&x` is `x`, and what is returned is a variable.

A call stands before the statement that uses its result; one that is executed conditionally within an expression stays,
and so does a function that calls itself. A function that is one `return` is left to where the call stands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polyloom.frontend.c.library import CALLS
from polyloom.frontend.c.wide.words import WIDE
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.returns import replace_returns
from polyloom.frontend.loops.substatements import Statements, block, map_statements
from polyloom.frontend.loops.tree import CASTS, Node, strip_casts

# Operands that C may not evaluate (C17, sections 6.5.13 to 6.5.15): what they call must not move before the statement.
_CONDITIONAL = ("choose", "statements", "sizeof")


def inline_calls(body: Node, functions: Mapping[str, Node], around: frozenset[str] = frozenset()) -> Node:
    """Inline expansion of the calls that can be written out; `around` are the names of functions that are being
    expanded.
    """
    return map_statements(body, lambda node: _rewrite_statement(node, functions, around))


def _rewrite_statement(node: Node, functions: Mapping[str, Node], around: frozenset[str]) -> Statements:
    called = _inlinable_callee(node, functions, around, is_statement=True)
    if called is not None:
        made = _inlined_body(node, called, None, functions, around)
        return (node,) if made is None else (made,)
    if node.kind in ("block", "for", "while", "do", "label", "attributed"):
        return (inline_calls(node, functions, around),)
    before = list[Node]()
    if node.kind == "if":
        test = _hoist_calls(node.inner[0], functions, around, before)
        node = map_statements(node, lambda child: _rewrite_statement(child, functions, around))
        return (*before, replace(node, inner=(test, *node.inner[1:])))
    made = _hoist_calls(node, functions, around, before)
    return (*before, made)


def _hoist_calls(node: Node, functions: Mapping[str, Node], around: frozenset[str], before: list[Node]) -> Node:
    """An expression with variables for results; what computes these goes to `before`."""
    if node.kind == "choose" and any(_calls(arm, functions, around) for arm in node.inner[1:]):
        return _choice_branch(node, functions, around, before)
    if node.kind in _CONDITIONAL or node.opcode in ("&&", "||"):
        return node
    inner = [_hoist_calls(child, functions, around, before) for child in node.inner]
    if any(a is not b for a, b in zip(inner, node.inner, strict=True)):
        node = replace(node, inner=tuple(inner))
    called = _inlinable_callee(node, functions, around)
    if called is None or node.ctype == "void":
        return node
    declared = make.declare_variable(called.name, node.ctype, f"{node.symbol}@", node)
    made = _inlined_body(node, called, declared.inner[0], functions, around)
    if made is None:
        return node
    before.extend((declared, made))
    return make.variable_reference(declared.inner[0], node)


def _calls(node: Node, functions: Mapping[str, Node], around: frozenset[str]) -> bool:
    return any(_inlinable_callee(part, functions, around) is not None for part in node)


def _choice_branch(node: Node, functions: Mapping[str, Node], around: frozenset[str], before: list[Node]) -> Node:
    """A conditional expression as a branch that assigns a variable: each arm's calls stay in it (C17, section
    6.5.15)."""
    declared = make.declare_variable("chosen", node.ctype, f"{node.span.start}-{node.span.end}@", node)
    name = make.variable_reference(declared.inner[0], node)
    test = _hoist_calls(node.inner[0], functions, around, before)
    arms = list[Node]()
    for arm in node.inner[1:]:
        inside = list[Node]()
        value = _hoist_calls(arm, functions, around, inside)
        arms.append(block((*inside, make.assignment(name, value, arm)), arm))
    before.extend((declared, replace(node, kind="if", ctype="", inner=(test, *arms))))
    return name


def _inlinable_callee(
    node: Node, functions: Mapping[str, Node], around: frozenset[str], is_statement: bool = False
) -> Node | None:
    """Function of a call that is to be written out; None for recursion, library names, and other numbers of
    arguments.
    """
    if node.kind != "call" or not callee_name(node) or callee_name(node) in around:
        return None
    function = functions.get(strip_casts(node.inner[0]).symbol)
    # A compiler may take a function with a name of C's library for that (C17 7.1.3): it is refused where it is called.
    if function is None or function.name.startswith("__polyloom") or function.name in CALLS:
        return None
    body = function.inner[-1].inner
    parameters = [n for n in function.inner if n.kind == "parameter"]
    # Substituted as an expression by loops/values.py, so that it may stand in conditions and bounds, too.
    expression = len(body) == 1 and body[0].kind == "return" and not any("*" in p.ctype for p in parameters)
    # A call in it that needs statements makes it one of statements, too; so does what has 64 bits (`wide`).
    expression = expression and not _calls(body[0], functions, around | {function.name})
    expression = expression and not any(n.ctype in WIDE for n in function)
    return None if (expression and not is_statement) or len(parameters) != len(node.inner) - 1 else function


def _inlined_body(
    call: Node, function: Node, result: Node | None, functions: Mapping[str, Node], around: frozenset[str]
) -> Node | None:
    """Inlined body: the block that a call is; None where it may return within loops."""
    body = replace_returns(function.inner[-1], result)
    if body is None:
        return None
    parameters = [n for n in function.inner if n.kind == "parameter"]
    given = {p.symbol: argument for p, argument in zip(parameters, call.inner[1:], strict=True)}
    moved = {strip_casts(n.inner[0]).symbol for n in body if n.opcode in ("=", "++", "--") or n.kind == "update"}
    passed = {
        p.symbol: strip_casts(given[p.symbol])
        for p in parameters
        if "*" in p.ctype and p.symbol not in moved and not has_effect(given[p.symbol])
    }
    changed = make.replace_nodes(body, lambda node: _substitute_argument(node, passed))
    # A pointer whose value is used in other ways, or is null, is a variable that is given it.
    if kept := {n.symbol for n in changed if n.kind == "name" and n.symbol in passed}:
        passed = {name: argument for name, argument in passed.items() if name not in kept}
        changed = make.replace_nodes(body, lambda node: _substitute_argument(node, passed))
    # Passed by value (C17, section 6.5.2.2, paragraph 4): a copy that the body may change, and a pointer that it may
    # move.
    first = [
        make.declare_variable(p.name, p.ctype, p.symbol, call, given[p.symbol])
        for p in parameters
        if p.symbol not in passed
    ]
    body = changed
    body = inline_calls(body, functions, around | {function.name})
    # Arguments may themselves call functions: evaluated before the body, in order.
    before = [s for declared in first for s in _rewrite_statement(declared, functions, around)]
    return block((*before, *body.inner), call)


def dereferenced_address(node: Node) -> Node | None:
    """`*&x` as `x`, also where the address is converted, as in `*(short **)&p` (C17, section 6.5.3.2)."""
    if node.kind != "unary" or node.opcode != "*":
        return None
    address = node.inner[0]
    while address.kind in ("parentheses", *CASTS):
        address = address.inner[0]
    place = strip_casts(address.inner[0]) if _is_address(address) else node
    return place if place.kind == "name" and place.ctype.count("*") == node.ctype.count("*") else None


def _substitute_argument(node: Node, passed: Mapping[str, Node]) -> Node | None:
    """Substitution of an argument for `*p`, `p[e]`, `p->x` and `p` of a parameter that is a pointer; None for other
    expressions.
    """
    if node.kind == "unary" and node.opcode == "*" and (given := _passed_argument(node.inner[0], passed)) is not None:
        return given.inner[0] if _is_address(given) else shifted_element(given, make.number(0, node), node)
    if node.kind == "element" and (given := _passed_argument(node.inner[0], passed)) is not None:
        index = make.replace_nodes(node.inner[1], lambda part: _substitute_argument(part, passed))
        return shifted_element(given, index, node)
    if node.kind == "member" and node.arrow and (given := _passed_argument(node.inner[0], passed)) is not None:
        if _is_address(given):
            return replace(node, arrow=False, inner=given.inner)
        return replace(node, inner=(given,))
    if node.kind == "name" and (given := passed.get(node.symbol)) is not None:
        return given if given.kind in ("name", "element", "member") or _is_address(given) or _is_offset(given) else None
    return None


def _is_address(node: Node) -> bool:
    return node.kind == "unary" and node.opcode == "&"


def _is_offset(node: Node) -> bool:
    return (
        node.kind == "binary" and node.opcode == "+" and "*" in strip_casts(node.inner[0]).ctype + node.inner[0].ctype
    )


def shifted_element(given: Node, index: Node, at: Node) -> Node | None:
    """Element of a part of an array: `p[k]` of `A + e` and of `&A[e]` is `A[e + k]` (C17, section 6.5.6)."""
    given = strip_casts(given)
    if _is_address(given):
        element = strip_casts(given.inner[0])
        if element.kind != "element":
            return None
        return shifted_element(element.inner[0], _sum(element.inner[1], index, at), at)
    if _is_offset(given):
        return shifted_element(given.inner[0], _sum(given.inner[1], index, at), at)
    return make.element(given, index, at)


def has_effect(node: Node) -> bool:
    """Whether an expression assigns something."""
    return any(n.kind == "update" or n.opcode in ("=", "++", "--") for n in node)


def rename_pointers(body: Node) -> Node:
    """Renaming of pointers that several copies of a function's body declare: each walks over what its call gives it."""
    seen = dict[str, int]()

    def rename(node: Node) -> Node | None:
        if node.kind != "block":
            return None
        declared = [d for s in node.inner if s.kind == "declare" for d in s.inner if d.kind == "variable"]
        names = dict[str, str]()
        for name in [d.symbol for d in declared if d.ctype.endswith("*")]:
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                names[name] = f"{name}@{seen[name]}"
        inner = [make.replace_nodes(child, lambda part: _rename_symbols(part, names)) for child in node.inner]
        return replace(node, inner=tuple([make.replace_nodes(child, rename) for child in inner]))

    return make.replace_nodes(body, rename)


def _rename_symbols(node: Node, names: Mapping[str, str]) -> Node | None:
    if node.symbol not in names:
        return None
    inner = tuple([make.replace_nodes(child, lambda part: _rename_symbols(part, names)) for child in node.inner])
    return replace(node, symbol=names[node.symbol], inner=inner)


def _sum(a: Node, b: Node, at: Node) -> Node:
    """Sum of two subscripts; a constant 0 adds nothing."""
    if b.kind == "integer" and b.value in (0, "0"):
        return a
    return make.binary("+", a, b, "int", at)


def _passed_argument(node: Node, passed: Mapping[str, Node]) -> Node | None:
    node = strip_casts(node)
    return passed.get(node.symbol) if node.kind == "name" else None
