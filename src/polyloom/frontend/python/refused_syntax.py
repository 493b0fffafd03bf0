# SPDX-License-Identifier: Apache-2.0
"""Refused syntax of kernels, as data: for each kind of syntax its name and what to write instead."""

from __future__ import annotations

import ast

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.syntax_tree import Text

Refusals = dict[type[ast.AST], tuple[str, str]]

STATEMENTS: Refusals = {
    ast.While: ("a `while` loop", "write `for i in range(...)`: how often a loop runs must be known before data is"),
    ast.Break: (
        "`break`",
        "let the loop run to its end, and keep the value by a conditional expression: `x = a if found == 0 else x`",
    ),
    ast.Continue: ("`continue`", "put the rest of the body under an `if`"),
    ast.Return: ("`return`", "write results to an array argument, and let the function end at its last line"),
    ast.Global: (
        "global state",
        "pass what changes as an array argument; constants of the module are read without `global`",
    ),
    ast.Nonlocal: ("state of another function", "pass what changes as an array argument"),
    ast.FunctionDef: ("the definition of a function", "write its statements where it would be called"),
    ast.AsyncFunctionDef: ("the definition of a function", "write its statements where it would be called"),
    ast.ClassDef: ("the definition of a class", "use arrays and scalars"),
    ast.With: ("a `with` statement", "leave it out: a kernel only calculates"),
    ast.AsyncFor: ("an `async for` loop", "write `for i in range(...)`"),
    ast.AsyncWith: ("a `with` statement", "leave it out: a kernel only calculates"),
    ast.Try: ("a `try` statement", "leave it out: a kernel raises nothing"),
    ast.TryStar: ("a `try` statement", "leave it out: a kernel raises nothing"),
    ast.Raise: ("a `raise` statement", "leave it out: a kernel raises nothing"),
    ast.Import: ("an import", "import at the top of the file"),
    ast.ImportFrom: ("an import", "import at the top of the file"),
    ast.Delete: ("a `del` statement", "leave it out"),
    ast.Match: ("a `match` statement", "write `if`, `elif` and `else`"),
}
EXPRESSIONS: Refusals = {
    ast.List: ("a list", "pass an array as an argument"),
    ast.Tuple: ("a tuple as a value", "write one assignment for each value"),
    ast.Set: ("a set", "pass an array as an argument"),
    ast.Dict: ("a dictionary", "pass an array as an argument"),
    ast.ListComp: ("a comprehension", "write a loop that assigns the elements of an array"),
    ast.SetComp: ("a comprehension", "write a loop that assigns the elements of an array"),
    ast.DictComp: ("a comprehension", "write a loop that assigns the elements of an array"),
    ast.GeneratorExp: ("a generator", "write a loop that accumulates in a variable"),
    ast.Lambda: ("a `lambda`", "write its expression where it would be called"),
    ast.NamedExpr: ("an assignment within an expression", "write it as a statement of its own"),
    ast.Await: ("`await`", "leave it out: a kernel only calculates"),
    ast.Yield: ("`yield`", "write results to an array argument"),
    ast.YieldFrom: ("`yield`", "write results to an array argument"),
    ast.JoinedStr: ("a text", "use numbers"),
    ast.Starred: ("a starred expression", "write every operand"),
    ast.Slice: ("a slice", "write a loop over the elements"),
}
OPERATORS: Refusals = {
    ast.Pow: ("the power `**`", "multiply: `x * x`"),
    ast.MatMult: ("the product of matrices `@`", "write its three loops"),
    ast.Is: ("`is`", "compare by `==`"),
    ast.IsNot: ("`is not`", "compare by `!=`"),
    ast.In: ("`in`", "compare by `==`, joined by `or`"),
    ast.NotIn: ("`not in`", "compare by `!=`, joined by `and`"),
}


def refuse_syntax(text: Text, node: ast.expr | ast.stmt, kind: ast.AST, table: Refusals) -> PolyloomError:
    """PL0133 for `node`, of which `kind` is what the table names."""
    what, help = table.get(type(kind), (f"`{type(kind).__name__}`", "write assignments, `for` and `if`"))
    return text.error("PL0133", f"{what} cannot stand in a kernel", node, help)
