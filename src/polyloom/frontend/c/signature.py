# SPDX-License-Identifier: Apache-2.0
"""Declarations as storage: element types and shapes of parameters and of local variables.

clang's tree gives a parameter the type of a pointer, without its outermost extent; the declaration that clang prints
has it. Extents are read as affine expressions of the function's integer parameters, which are what C evaluates them
from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.loops.tree import Node, ctype, refuse
from polyloom.frontend.names import suggestion
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine

TYPES: dict[str, ElementType] = {
    "char": "i8",
    "signed char": "i8",
    "short": "i16",
    "int": "i32",
    "unsigned char": "u8",
    "unsigned short": "u16",
    "unsigned int": "u32",
    "_Bool": "bool",
    "_Float16": "f16",
    "float": "f32",
    "double": "f64",
}
_WIDE = ("long", "unsigned long", "long long", "unsigned long long")
_NAME = re.compile(r"\b[^\W\d]\w*")


def element_type(declaration: Node) -> ElementType:
    """The element type of a variable, an array or a pointer to elements; raises PL0153."""
    base = re.split(r" ?[(*\[]", declaration.ctype)[0]
    if base not in TYPES:
        help = "the element types are _Bool, integers of up to 32 bits, float and double"
        if base in _WIDE:
            short = "unsigned int" if base.startswith("unsigned") else "int"
            help = f"use `{short}`: elements have 32 bits at most; counters, sizes and subscripts may be `{base}`"
        elif base == "long double":
            help = "use `double`"
        alias = re.sub(r"^(?:(?:const|volatile) )*", "", declaration.data["type"].get("qualType", "")).split(" ")[0]
        written = () if alias in base.split(" ") else (f"`{alias}` is `{base}`",)
        raise refuse(
            "PL0153",
            f"`{declaration.name}` is of the type `{base}`, which no operation has",
            declaration,
            help,
            *written,
        )
    return TYPES[base]


def is_pointer(declaration: Node) -> bool:
    return "*" in declaration.ctype


def extents(type: str) -> list[str]:
    """The texts between brackets of a type or of a declarator, outermost first."""
    return [
        re.sub(r"^(?:(?:static|const|restrict|volatile) ?)+", "", text).strip()
        for text in re.findall(r"\[([^\]]*)\]", type)
    ]


def declarators(printed: str, name: str, aliases: Mapping[str, str]) -> list[str]:
    """The parameter declarations of the function `name`, as clang printed it, split at their commas; `aliases` of array
    types are written out."""
    # From clang's print, because its tree decays the outermost extent of an array parameter into a pointer (C17
    # 6.7.6.3).
    start = re.search(rf"\b{re.escape(name)}\(", printed[printed.index("\n") :])
    assert start is not None
    text = printed[printed.index("\n") + start.end() :]
    parts, depth, begin = list[str](), 0, 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (character == "," and depth == 0):
            parts.append(text[begin:position].strip())
            begin = position + 1
        if depth < 0:
            break
    return [_written_out(part, aliases) for part in parts if part not in ("", "void", "...")]


def _written_out(declarator: str, aliases: Mapping[str, str]) -> str:
    """`row a[n]` as `int a[n][4]`, where `row` is `int[4]`."""
    found = re.match(r"((?:(?:const|volatile) )*)(\w+)\b(.*)", declarator)
    if found is None or not (type := ctype({"qualType": found[2]}, aliases)).endswith("]"):
        return declarator
    base, bracket, inner = type.partition("[")
    return f"{found[1]}{base}{found[3]}{bracket}{inner}"


def affine_text(text: str, symbols: Mapping[str, Affine]) -> Affine | None:
    """An extent that clang printed; None when it is not affine in `symbols`. C and Python agree on these expressions,
    but for names: some are keywords of Python."""
    places = dict.fromkeys(names_in(text))
    numbered = {name: f"_{n}" for n, name in enumerate(places)}
    known = {numbered[name]: symbols[name] for name in places if name in symbols}
    try:
        return _affine(ast.parse(_NAME.sub(lambda name: numbered[name[0]], text), mode="eval").body, known)
    except (SyntaxError, KeyError, ValueError):
        return None


def _affine(tree: ast.expr, symbols: Mapping[str, Affine]) -> Affine:
    match tree:
        case ast.Constant(value=int(value)):
            return Affine((), value)
        case ast.Name(id=name):
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_affine(operand, symbols)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _affine(left, symbols) + _affine(right, symbols)
        case ast.BinOp(op=ast.Sub(), left=left, right=right):
            return _affine(left, symbols) - _affine(right, symbols)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            a, b = _affine(left, symbols), _affine(right, symbols)
            if a.is_constant or b.is_constant:
                return b * a.constant if a.is_constant else a * b.constant
        case _:
            pass
    raise ValueError


def factors(text: str) -> list[str]:
    """The extent as a product of extents where several of them have names, else alone."""
    try:
        found = list(_factors(ast.parse(_NAME.sub(lambda name: f"_{name[0]}", text), mode="eval").body))
    except SyntaxError:
        return [text]
    named = sum(any(isinstance(n, ast.Name) for n in ast.walk(f)) for f in found)
    return [re.sub(r"\b_(?=[^\W\d])", "", ast.unparse(f)) for f in found] if named > 1 else [text]


def _factors(tree: ast.expr) -> Iterator[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        yield from _factors(tree.left)
        yield from _factors(tree.right)
    else:
        yield tree


def names_in(text: str) -> Iterator[str]:
    """The identifiers of an extent."""
    yield from _NAME.findall(text)


def given_shapes(shapes: Sequence[str], arrays: Sequence[str]) -> dict[str, list[str]]:
    """The extents that `--shape A=n,m` gives; raises PL0155 for texts of another form and for unknown arrays."""
    result = dict[str, list[str]]()
    for shape in shapes:
        name, equals, value = shape.partition("=")
        if not equals or not all(part.strip() for part in value.split(",")):
            raise _wrong(f"`{shape}` is not a shape", "write the array and its extents, as in --shape A=n,m")
        if name.strip() not in arrays:
            raise _wrong(
                f"the function has no array parameter `{name.strip()}`",
                suggestion(name.strip(), arrays, f"its arrays are {', '.join(arrays)}"),
            )
        if name.strip() in result:
            raise _wrong(f"the shape of `{name.strip()}` is given twice", f"give --shape {name.strip()} once")
        result[name.strip()] = [part.strip() for part in value.split(",")]
    return result


def _wrong(message: str, help: str | None) -> PolyloomError:
    return input_error("PL0155", message, help=help)
