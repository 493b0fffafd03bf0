# SPDX-License-Identifier: Apache-2.0
"""Parameter declarations as storage: element types and shapes of parameters and of local variables (C17, section
6.7.6).

clang's tree gives a parameter the type of a pointer, without its outermost extent; the declaration that clang prints
has it. Extents are read as affine expressions of the function's integer parameters, which are what C evaluates them
from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.c.clang_tree import ctype
from polyloom.frontend.loops.extent_text import NAME
from polyloom.frontend.suggestions import suggestion
from polyloom.names import field_name


def declarators(printed: str, name: str, aliases: Mapping[str, str]) -> list[str]:
    """Declarators of the parameters of the function `name`, as clang printed it, split at their commas; `aliases` of
    array types are written out (C17, section 6.7.8).
    """
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
    return [_expand_alias(part, aliases) for part in parts if part not in ("", "void", "...")]


def _expand_alias(declarator: str, aliases: Mapping[str, str]) -> str:
    """`row a[n]` as `int a[n][4]`, where `row` is `int[4]`."""
    found = re.match(r"((?:(?:const|volatile) )*)(\w+)\b(.*)", declarator)
    if found is None or not (type := ctype({"qualType": found[2]}, aliases)).endswith("]"):
        return declarator
    base, bracket, inner = type.partition("[")
    return f"{found[1]}{base}{found[3]}{bracket}{inner}"


def extent_factors(text: str) -> list[str]:
    """Factors of an extent: a product of extents where several of them have names, else the extent alone."""
    try:
        # C's products and names read as Python's, with `_` before each name: some are keywords there.
        found = list(_product_factors(ast.parse(NAME.sub(lambda name: f"_{name[0]}", text), mode="eval").body))
    except SyntaxError:
        return [text]
    named = sum(any(isinstance(n, ast.Name) for n in ast.walk(f)) for f in found)
    return [re.sub(r"\b_(?=[^\W\d])", "", ast.unparse(f)) for f in found] if named > 1 else [text]


def _product_factors(tree: ast.expr) -> Iterator[ast.expr]:
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        yield from _product_factors(tree.left)
        yield from _product_factors(tree.right)
    else:
        yield tree


def given_shapes(shapes: Sequence[str], written: Mapping[str, str]) -> dict[str, list[str]]:
    """Extents that `--shape A=n,m` gives, by array; `written` are the arrays, with how C writes them: `S->taps` for
    `S_taps`. Raises PL0155 for texts of another form and for unknown arrays.
    """
    result, arrays = dict[str, list[str]](), list(written)
    for shape in map(field_name, shapes):
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


def given_values(values: Sequence[str], integers: Collection[str]) -> dict[str, int]:
    """Values that `--set NAME=VALUE` gives integer parameters, by name; `integers` are those that there are. Raises
    PL0230 for texts of another form, and for unknown names.
    """
    result = dict[str, int]()
    for text in map(field_name, values):
        name, _, number = (part.strip() for part in text.partition("="))
        if re.fullmatch(r"-?[0-9]{1,10}", number) is None:
            help = "write an integer argument and its value, as in --set n=8 or --set 'p->taps=8'"
            raise input_error("PL0230", f"`{text}` gives no integer value", help=help)
        if name not in integers:
            help = suggestion(name, integers, f"they are {', '.join(integers)}" if integers else None)
            raise input_error("PL0230", f"the function has no integer argument `{name}`", help=help)
        if result.setdefault(name, int(number)) != int(number):
            raise input_error("PL0230", f"`{name}` is given two values", help=f"give --set {name} once")
    return result


def _wrong(message: str, help: str | None) -> PolyloomError:
    return input_error("PL0155", message, help=help)
