# SPDX-License-Identifier: Apache-2.0
"""Terms of 32 bits (`pairs`) as statements: operations of the type int, with a variable for each that is used several
times (Briggs, Cooper and Simpson 1997: a value that has a number is computed once).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from polyloom.frontend.c.narrow.pairs import Term
from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node

_SYMBOLS: Final = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "ashr": ">>"}


def statements(found: Term, at: Node, parameters: Mapping[str, Node], returned: str) -> Iterator[Node]:
    """Term as statements: a variable for each operation that is used several times, then the `return`."""
    uses, order = dict[Term, int](), list[Term]()

    def count(term: Term) -> None:
        uses[term] = uses.get(term, 0) + 1
        if uses[term] == 1 and term[0] not in ("const", "var"):
            for operand in term[1:]:
                count(operand)
            order.append(term)

    count(found)
    names = dict[Term, Node]()
    for term in order:
        if uses[term] > 1:
            identity = f"{at.symbol}@{len(names)}"
            declared = make.declare_variable(
                f"part{len(names)}", "int", identity, at, _node(term, at, parameters, names)
            )
            yield declared
            names[term] = make.variable_reference(declared.inner[0], at)
    value = _node(found, at, parameters, names)
    inner = value if returned == "int" else _cast(value, returned)
    yield replace(at, kind="return", ctype="", inner=(inner,), name="", symbol="", opcode="")


def _node(term: Term, at: Node, parameters: Mapping[str, Node], names: Mapping[Term, Node]) -> Node:
    if term in names:
        return names[term]
    name, *rest = term
    if name == "const":
        return make.number(term[1], at)
    if name == "var":
        variable = make.variable_reference(parameters[term[1]], at)
        return variable if variable.ctype == "int" else _cast(variable, "int")
    operands = [_node(each, at, parameters, names) for each in rest]
    match name:
        case "ite":
            made = Node("choose", at.span, "int", (_test(rest[0], operands[0], at), *operands[1:]), macro=at.macro)
        case "eq" | "slt":
            made = make.binary("==" if name == "eq" else "<", operands[0], operands[1], "int", at)
        case "ult":
            a, b = (_cast(each, "unsigned int") for each in operands)
            made = make.binary("<", a, b, "int", at)
        case "lshr":
            made = make.binary(">>", _cast(operands[0], "unsigned int"), operands[1], "unsigned int", at)
            made = _cast(made, "int")
        case _:
            made = make.binary(_SYMBOLS[name], operands[0], operands[1], "int", at)
    return made


def _test(term: Term, node: Node, at: Node) -> Node:
    return (
        node
        if term[0] in ("eq", "slt", "ult") and node.kind != "name"
        else make.binary("!=", node, make.number(0, at), "int", at)
    )


def _cast(node: Node, ctype: str) -> Node:
    return Node("convert", node.span, ctype, (node,), "IntegralCast", macro=node.macro)
