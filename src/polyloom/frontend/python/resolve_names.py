# SPDX-License-Identifier: Apache-2.0
"""Name resolution of a kernel (Python language reference, section 4.2), before its statements are looked at: arguments,
sizes, loops, names for affine expressions, data.

An `int` argument that stands in an extent, a bound, a condition or an index is a parameter of the nest; one that is
only calculated with is an i32 scalar. A name that is assigned once, an affine expression, means this expression
wherever it is used.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.frontend.python.integer_trees import NOTHING, Scope, affine_form, array_extent
from polyloom.frontend.python.loop_renaming import rename_loop_variables
from polyloom.frontend.python.syntax_tree import Text
from polyloom.frontend.python.types import DTYPES, NAMED, Size
from polyloom.frontend.suggestions import suggestion
from polyloom.ir.nest import Storage
from polyloom.ir.operations import ElementType
from polyloom.names import hidden_name
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Function:
    """Resolved function: `scope` is the one that all statements share (a loop's name means itself, which no size is);
    `storage` and `parameters` are the nest's; `order` names the arguments as a call gives them; `loops` and `data` are
    the names of loops and of local variables; `counters` are integers that indices depend on, assigned repeatedly.
    """

    text: Text
    node: ast.FunctionDef
    scope: Scope
    order: tuple[str, ...]
    storage: Mapping[str, Storage]
    parameters: tuple[str, ...]
    loops: frozenset[str]
    data: frozenset[str]
    counters: frozenset[str]


def resolve_names(text: Text, node: ast.FunctionDef, namespace: Mapping[str, object]) -> Function:
    """Name resolution of a function; raises PL0133 to PL0135, PL0140 to PL0142."""
    node = rename_loop_variables(node)
    arguments = _check_arguments(text, node)
    counts = Counter(stored_names(node))
    # All loops of the function, before any statement: a name that is a loop's is no size anywhere in it.
    loops = frozenset(n.target.id for n in ast.walk(node) if isinstance(n, ast.For) and isinstance(n.target, ast.Name))
    bound = frozenset((*(a.arg for a in arguments), *counts))
    scope = Scope(text, namespace, bound, {name: Affine.symbol(hidden_name(name)) for name in loops})
    _check_stores(node, scope)
    storage, integers = _read_signature(arguments, scope, _index_names(node, counts))
    scope = replace(scope, integers={**scope.integers, **{name: Affine.symbol(name) for name in integers}})
    counters = _find_counters(node, scope, counts)
    scope = replace(scope, integers={**scope.integers, **{name: Affine.symbol(hidden_name(name)) for name in counters}})
    scope = _with_aliases(node, scope, counts)
    parameters = tuple(dict.fromkeys((*_size_symbols(arguments, node, scope), *integers)))
    for argument in arguments:
        if argument.arg in parameters and argument.arg not in integers:
            raise text.error(
                "PL0141", f"`{argument.arg}` is both an argument and a size", argument, "choose another name"
            )
    # What is left are variables of data: each gets one type by inference.
    data = bound - scope.integers.keys() - {a.arg for a in arguments}
    return Function(text, node, scope, tuple(a.arg for a in arguments), storage, parameters, loops, data, counters)


def element_type_of_name(node: ast.expr, scope: Scope) -> ElementType | None:
    """The element type that an expression such as `pl.f32` names."""
    value = scope.value(node)
    return NAMED.get(value) if isinstance(value, type) else None


def _check_arguments(text: Text, node: ast.FunctionDef) -> list[ast.arg]:
    signature = node.args
    for extra in (signature.vararg, signature.kwarg):
        if extra is not None:
            raise text.error(
                "PL0135", f"`{extra.arg}` stands for any number of arguments", extra, "name every argument"
            )
    for default in (*signature.defaults, *signature.kw_defaults):
        if default is not None:
            raise text.error("PL0135", "an argument of a kernel has no default value", default, "pass it in every call")
    return [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]


def stored_names(node: ast.FunctionDef) -> Iterator[str]:
    """Binding occurrences of names in the body (Python language reference, section 4.2.1), once for each time."""
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store):
            yield n.id


def _check_stores(node: ast.FunctionDef, scope: Scope) -> None:
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and isinstance(scope.namespace.get(n.id), Size):
            raise scope.text.error(
                "PL0141", f"`{n.id}` is a size, which a kernel cannot assign", n, "choose another name for the variable"
            )


def _read_signature(
    arguments: list[ast.arg], scope: Scope, index_names: set[str]
) -> tuple[dict[str, Storage], list[str]]:
    storage: dict[str, Storage] = {}
    integers: list[str] = [a.arg for a in arguments if _is_int_argument(a, scope) and a.arg in index_names]
    inner = replace(scope, integers={name: Affine.symbol(name) for name in integers})
    for argument in arguments:
        if argument.arg not in integers:
            storage[argument.arg] = _argument_storage(argument, inner)
    return storage, integers


def _is_int_argument(argument: ast.arg, scope: Scope) -> bool:
    return argument.annotation is not None and scope.value(argument.annotation) is int


def _argument_storage(argument: ast.arg, scope: Scope) -> Storage:
    span, annotation = scope.text.span(argument), argument.annotation
    if annotation is None:
        help = (
            f"write `{argument.arg}: pl.f32[N]` for an array, `{argument.arg}: pl.f32` for a scalar, "
            f"`{argument.arg}: int` for an integer parameter"
        )
        raise scope.text.error("PL0135", f"the argument `{argument.arg}` has no type", argument, help)
    if _is_int_argument(argument, scope):
        return Storage(argument.arg, "i32", writable=False, span=span)
    if not isinstance(annotation, ast.Subscript):
        return Storage(argument.arg, _read_dtype(annotation, scope), writable=False, span=span)
    extents = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
    if not extents:
        help = (
            f"write `{argument.arg}: {ast.unparse(annotation.value)}[1]` for one element, without brackets for a scalar"
        )
        raise scope.text.error("PL0135", "an array has at least one dimension", annotation, help)
    shape = tuple(array_extent(each, scope) for each in extents)
    return Storage(argument.arg, _read_dtype(annotation.value, scope), shape, span=span)


def _read_dtype(node: ast.expr, scope: Scope) -> ElementType:
    found = element_type_of_name(node, scope)
    if found is not None:
        return found
    value = scope.value(node)
    if value is float:
        help = "write `pl.f64` for double precision, or `pl.f32`"
        raise scope.text.error("PL0142", f"`{ast.unparse(node)}` is not an element type", node, help)
    if value is NOTHING and isinstance(node, ast.Name):
        raise scope.unknown(node)
    help = suggestion(
        ast.unparse(node).rpartition(".")[2],
        DTYPES.values(),
        "write pl.i8, pl.u8, pl.i16, pl.u16, pl.i32, pl.u32, pl.bool, pl.f32 or pl.f64, with extents for an array: "
        "`pl.f32[N, M]`",
    )
    raise scope.text.error("PL0142", f"`{ast.unparse(node)}` is not an element type", node, help)


def _index_names(node: ast.FunctionDef, counts: Counter[str]) -> set[str]:
    """The names in extents, bounds, indices and tests of integers, and in the values of names that stand there."""
    found = {name for part in _index_parts(node) for name in used_names(part)}
    assigned = [
        n
        for n in ast.walk(node)
        if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name) and counts[n.targets[0].id] == 1
    ]
    # From the last to the first, since a name's value is made of names that were assigned before it.
    for statement in sorted(assigned, key=lambda n: n.lineno, reverse=True):
        if found & set(used_names(statement.targets[0])):
            found |= set(used_names(statement.value))
    return found


def _index_parts(node: ast.FunctionDef) -> Iterator[ast.expr]:
    for n in ast.walk(node):
        match n:
            case ast.For():
                yield n.iter
            case ast.While():
                yield n.test
            case ast.Subscript():
                yield n.slice
            case ast.If() | ast.IfExp() | ast.Assert():
                yield from (
                    c
                    for c in ast.walk(n.test)
                    if isinstance(c, ast.Compare) and not any(isinstance(a, ast.Subscript) for a in ast.walk(c))
                )
            case _:
                pass


def used_names(node: ast.AST) -> Iterator[str]:
    """Occurrences of names in a part of the tree, as often as they stand there."""
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _find_counters(node: ast.FunctionDef, scope: Scope, counts: Counter[str]) -> frozenset[str]:
    """Induction variables: names that stand in indices and are assigned several times, affine expressions each time."""
    positions = {name for part in _index_parts(node) for name in used_names(part)}
    found = {name for name in positions if counts[name] > 1} - scope.integers.keys()
    found -= {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    stores = [n for n in ast.walk(node) if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign)]
    # The greatest fixed point: a name that fails takes with it those whose values depend on it.
    while found:
        known = replace(
            scope, integers={**scope.integers, **{name: Affine.symbol(hidden_name(name)) for name in found}}
        )
        for name in counts.keys() - found - scope.integers.keys():
            value = [s.value for s in stores if _stored_name(s) == name and s.value is not None]
            form = affine_form(value[0], known) if counts[name] == 1 and value else None
            known = known if form is None else known.bind_form(name, form)
        left = {n for n in found if all(_is_counter_step(s, known) for s in stores if _stored_name(s) == n)}
        if left == found:
            break
        found = left
    return frozenset(found)


def _stored_name(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return target.id if isinstance(target, ast.Name) else ""


def _is_counter_step(node: ast.Assign | ast.AugAssign | ast.AnnAssign, scope: Scope) -> bool:
    if isinstance(node, ast.AugAssign) and not isinstance(node.op, ast.Add | ast.Sub):
        return False
    return not isinstance(node, ast.AnnAssign) and affine_form(node.value, scope) is not None


def _with_aliases(node: ast.FunctionDef, scope: Scope, counts: Counter[str]) -> Scope:
    assigned = [n for n in ast.walk(node) if isinstance(n, ast.Assign)]
    arguments = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    # In the order of the text, as a name may stand for an expression of earlier names.
    for statement in sorted(assigned, key=lambda n: (n.lineno, n.col_offset)):
        match statement.targets:
            case [ast.Name(id=name)] if counts[name] == 1 and name not in arguments:
                value = affine_form(statement.value, scope)
                scope = scope if value is None else scope.bind_form(name, value)
            case _:
                pass
    return scope


def _size_symbols(arguments: list[ast.arg], node: ast.FunctionDef, scope: Scope) -> Iterator[str]:
    """The sizes in the order in which the text first names them."""
    parts: list[ast.AST] = [*(a.annotation for a in arguments if a.annotation is not None), *node.body]
    places = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name | ast.Attribute)]
    for place in sorted(places, key=lambda n: (n.lineno, n.col_offset)):
        value = scope.value(place)
        if isinstance(value, Size):
            yield from (name for name, _ in value.form.terms)
