# SPDX-License-Identifier: Apache-2.0
"""The arguments of an array function, from annotations or from the arrays of a call, and what it returns."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.arrays.builder import Builder
from polyloom.frontend.python.arrays.interpreter import Interpreter
from polyloom.frontend.python.arrays.names import Frame
from polyloom.frontend.python.arrays.values import Data, as_items, element_name
from polyloom.frontend.python.integer_trees import NOTHING, check_no_text
from polyloom.frontend.python.syntax_tree import Text, find_definition
from polyloom.frontend.python.types import NAMED, Size
from polyloom.ir.arrays.program import (
    For,
    If,
    Program,
    Read,
    Shape,
    Statement,
    Store,
    Value,
    parts,
    read_array,
    with_parts,
)
from polyloom.ir.arrays.quotients import quotient
from polyloom.ir.nest import Storage
from polyloom.ir.nest_c import default_assumptions
from polyloom.ir.operations import ElementType
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction

RESULT = "result"
"""What is returned is called so, or numbered: of a tuple."""
_LETTERS = ("N", "M", "K", "L", "P", "Q", "R", "S")


@dataclass(frozen=True, slots=True)
class ArrayFunction:
    """A read function: `order` names its arguments, `fixed` are those that a call fixed, `results` the arrays that it
    returns."""

    program: Program
    order: tuple[str, ...]
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    results: tuple[str, ...] = ()


def read_arrays(function: FunctionType, called: Mapping[str, Any] | None = None) -> ArrayFunction:
    """The program of a function; `called` are the arguments of a call, from which types follow that no annotation
    says. Raises PL0133 to PL0149."""
    text, node = find_definition(function)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    namespace = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    if node.args.vararg or node.args.kwarg:
        extra = node.args.vararg or node.args.kwarg
        assert extra is not None
        raise text.error("PL0135", f"`{extra.arg}` stands for any number of arguments", extra, "name every argument")
    bound = frozenset((*(a.arg for a in arguments), *stored))
    # Sizes that a call infers may be called as others of the module that the function does not name.
    named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if called is not None else set(namespace)
    sizes = {n for name, v in namespace.items() if isinstance(v, Size) and name in named for n in v.form.symbols}
    builder = Builder({*(a.arg for a in arguments), *sizes})
    reader = Interpreter(builder)
    frame = Frame(text, namespace, {}, bound)
    fixed = _arguments(reader, frame, node, arguments, _defaults(function, node), called)
    builder.domain += default_assumptions(tuple(reader.parameters), builder.storage.values()).pieces[0].constraints
    reader.calls.append(function)
    found = reader.block(node.body, frame)
    results = _results(reader, text, node, None if found is None else found.value)
    body = (*builder.prologue, *builder.statements)
    storage, body = _name_results(tuple(builder.storage.values()), body, results)
    parameters = tuple(reader.parameters)
    known = Condition((Polyhedron(tuple(builder.assumptions)),))
    whole_domain = conjunction(default_assumptions(parameters, [s for s in storage if s.role == "argument"]), known)
    span = text.line(node.lineno)
    program = Program(node.name, parameters, whole_domain, storage, body, span)
    return ArrayFunction(program, tuple(a.arg for a in arguments), fixed, tuple(results.values()))


def _defaults(function: FunctionType, node: ast.FunctionDef) -> dict[str, Any]:
    positional = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    given = function.__defaults__ or ()
    return {
        **dict(zip(positional[len(positional) - len(given) :], given, strict=True)),
        **(function.__kwdefaults__ or {}),
    }


def _arguments(
    reader: Interpreter,
    frame: Frame,
    node: ast.FunctionDef,
    arguments: Sequence[ast.arg],
    defaults: Mapping[str, Any],
    called: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Puts arguments into storage and names; what a call fixed is returned."""
    sizes, fixed = dict[int, str](), dict[str, Any]()
    given: list[Any] = [v for v in (called or {}).values() if isinstance(v, np.ndarray)]
    floats: set[np.dtype[Any]] = {v.dtype for v in given if v.dtype.kind == "f"}
    kind: np.dtype[Any] = next(iter(floats)) if len(floats) == 1 else np.dtype(np.float64)
    # Integer arguments first: extents may name them.
    for argument in arguments:
        if argument.annotation is not None and _annotation(reader, frame, argument) is int:
            reader.parameters[argument.arg] = None
            frame.names[argument.arg] = Affine.symbol(argument.arg)
    for argument in arguments:
        name = argument.arg
        if name in frame.names:
            continue
        found = None if argument.annotation is None else _annotation(reader, frame, argument)
        if isinstance(found, type) and found in NAMED:
            _add(reader, frame, argument, NAMED[found], _argument_shape(reader, frame, argument))
        elif called is not None and name in called:
            value: Any = called[name]
            passed: object = value
            if isinstance(passed, np.ndarray):
                extents = tuple(_extent(n, sizes, reader, frame) for n in value.shape)
                _add(reader, frame, argument, _element(frame.text, argument, value.dtype), extents)
            elif isinstance(passed, np.generic):
                _add(reader, frame, argument, _element(frame.text, argument, value.dtype), ())
            elif isinstance(passed, bool | str | tuple | list | None):
                fixed[name] = value
                frame.names[name] = reader.object(reader.site(node, frame), value)
            elif isinstance(passed, int):
                reader.parameters[name] = None
                frame.names[name] = Affine.symbol(name)
            elif isinstance(passed, float):
                _add(reader, frame, argument, _element(frame.text, argument, kind), ())
            else:
                raise _missing_type_error(frame.text, argument)
        elif name in defaults:
            fixed[name] = defaults[name]
            frame.names[name] = reader.object(reader.site(node, frame), defaults[name])
        else:
            raise _missing_type_error(frame.text, argument)
    order = {a.arg: n for n, a in enumerate(arguments)}
    reader.builder.storage = dict(sorted(reader.builder.storage.items(), key=lambda item: order[item[0]]))
    integers = [name for name in reader.parameters if name in order]
    reader.parameters = dict.fromkeys((*(p for p in reader.parameters if p not in order), *integers))
    return fixed


def _annotation(reader: Interpreter, frame: Frame, argument: ast.arg) -> Any:
    """The type that an annotation names, without extents."""
    node = argument.annotation
    assert node is not None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if isinstance(node, ast.Subscript):
        node = node.value
    value = _annotation_value(node, frame)
    if value is NOTHING:
        raise frame.text.error("PL0142", f"`{ast.unparse(node)}` is not an element type", argument, "write `pl.f32[N]`")
    return value


def _annotation_value(node: ast.expr, frame: Frame) -> Any:
    import builtins

    if isinstance(node, ast.Name):
        return frame.namespace.get(node.id, getattr(builtins, node.id, NOTHING))
    if isinstance(node, ast.Attribute):
        owner = _annotation_value(node.value, frame)
        return NOTHING if owner is NOTHING else getattr(owner, node.attr, NOTHING)
    return NOTHING


def _argument_shape(reader: Interpreter, frame: Frame, argument: ast.arg) -> Shape:
    node = argument.annotation
    if not isinstance(node, ast.Subscript):
        return ()
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for part in parts:
        check_no_text(part, frame.text)
    found = [reader.evaluate(part, frame) for part in parts]
    for part, extent in zip(parts, found, strict=True):
        if not isinstance(extent, Affine):
            help = "an extent is a sum of sizes and integers"
            raise frame.text.error("PL0135", f"the extent `{ast.unparse(part)}` is not affine", part, help)
    return tuple(found)


def _add(reader: Interpreter, frame: Frame, argument: ast.arg, kind: ElementType, shape: Shape) -> None:
    span = frame.text.span(argument)
    storage = Storage(argument.arg, kind, shape, writable=bool(shape), span=span)
    reader.builder.storage[argument.arg] = storage
    frame.names[argument.arg] = Data(read_array(storage, span), is_view=bool(shape))


def _extent(number: int, sizes: dict[int, str], reader: Interpreter, frame: Frame) -> Affine:
    """Equal extents of a call are one size."""
    # An extent of 1 is one that is broadcast, whatever the other sizes are.
    if number == 1:
        return Affine((), 1)
    if number not in sizes:
        letter = _LETTERS[len(sizes)] if len(sizes) < len(_LETTERS) else "N"
        sizes[number] = fresh_name(letter, reader.builder.taken)
        reader.parameters[sizes[number]] = None
    return Affine.symbol(sizes[number])


def _element(text: Text, argument: ast.arg, kind: np.dtype[Any]) -> ElementType:
    found = element_name(kind)
    if found is None:
        help = "pass elements of 8 to 32 bits, f32 or f64"
        raise text.error("PL0142", f"`{argument.arg}` has elements of the type {kind}", argument, help)
    return found


def _missing_type_error(text: Text, argument: ast.arg) -> PolyloomError:
    help = (
        f"write `{argument.arg}: pl.f32[N]` for an array, `{argument.arg}: pl.f32` for a scalar, `{argument.arg}: int` "
        "for an integer parameter; or call the kernel once with arrays, whose types it then has"
    )
    return text.error("PL0135", f"the argument `{argument.arg}` has no type", argument, help)


def _results(reader: Interpreter, text: Text, node: ast.FunctionDef, value: Any) -> dict[str, str]:
    """Arguments for what is returned, by the local array that becomes one, or that was stored."""
    if value is None:
        return {}
    last = next((n for n in reversed(list(ast.walk(node))) if isinstance(n, ast.Return)), node)
    site = reader.site(last, Frame(text, {}, {}, frozenset()))
    values = as_items(value)
    found, seen = dict[str, str](), set[str]()
    for n, each in enumerate(values):
        name = fresh_name(RESULT if len(values) == 1 else f"{RESULT}_{n}", reader.builder.taken)
        data = site.data(reader.data(site, each))
        if data.wide and not data.weak:
            if not data.exact:
                raise site.wide("it is returned")
            data = Data(data.value)
        elif data.weak:
            data = site.convert_data(data, np.dtype(np.float64)) if data.dtype == "f64" else Data(data.value)
        for extent in data.shape:
            if any(quotient(Affine.symbol(s)) is not None for s in extent.symbols):
                help = "declare an array argument of that length, and store to it"
                raise site.error("PL0149", f"a result has the extent {extent}, which is not affine in sizes", help)
        read = data.value
        if isinstance(read, Read) and read.name not in seen and _is_own(reader, read):
            found[read.name] = name
            seen.add(read.name)
            continue
        local = reader.builder.array("out", data.dtype, data.shape or (Affine((), 1),), site.span)
        target = local if data.shape else Read(local.name, local.dtype, (Affine(),), (), site.span)
        reader.builder.store(target, data.value, site.span)
        found[local.name] = name
    return found


def _is_own(reader: Interpreter, read: Read) -> bool:
    """Whether a result is all of a local array, which can be the result itself."""
    storage = reader.builder.storage[read.name]
    is_whole = bool(read.shape) and storage.shape == read.shape and read.index == read_array(storage).index
    return storage.role == "local" and is_whole


def _name_results(
    storage: tuple[Storage, ...], body: tuple[Statement, ...], names: Mapping[str, str]
) -> tuple[tuple[Storage, ...], tuple[Statement, ...]]:
    """Results are arguments, behind the others."""
    from dataclasses import replace

    def value(found: Value) -> Value:
        if isinstance(found, Read):
            return replace(found, name=names.get(found.name, found.name))
        return with_parts(found, [value(part) for part in parts(found)])

    def statement(found: Statement) -> Statement:
        match found:
            case Store(target=target):
                to = replace(target, name=names.get(target.name, target.name))
                return replace(found, target=to, value=value(found.value))
            case For():
                return replace(found, body=tuple(map(statement, found.body)))
            case If():
                return replace(
                    found, body=tuple(map(statement, found.body)), orelse=tuple(map(statement, found.orelse))
                )

    results = [replace(s, name=names[s.name], role="argument") for s in storage if s.name in names]
    others = [s for s in storage if s.name not in names]
    arguments = [s for s in others if s.role == "argument"]
    locals_ = [s for s in others if s.role == "local"]
    return (*arguments, *results, *locals_), tuple(map(statement, body)) if names else body
