# SPDX-License-Identifier: Apache-2.0
"""Control flow of LLVM's text: phi functions and terminators (LLVM Language Reference Manual, "Terminator
Instructions").
"""

from __future__ import annotations

from polyloom.frontend.c.llvm_data import legal_operand, operand, read_flags, ssa_name, typed_operand
from polyloom.frontend.c.llvm_text import Model, Unsupported, Words
from polyloom.ir.ssa import Branch, Constant, Edge, Jump, Operand, Place, Return, Switch, Terminator, Unreachable, Value


def read_phi(text: str, model: Model) -> tuple[Value, dict[str, Operand]]:
    """Phi function (Cytron et al. 1991): the value, and its operands by the block that control comes from."""
    words = Words(text, model)
    name = ssa_name(words.pop())
    words.expect("=")
    words.expect("phi")
    read_flags(words)
    type, width = words.legal_type()
    incoming: dict[str, Operand] = {}
    while words.take("["):
        value = operand(words, type, width)
        words.expect(",")
        incoming[ssa_name(words.pop())] = value
        words.expect("]")
        words.take(",")
    return Value(name, type), incoming


def read_terminator(text: str, place: Place, model: Model) -> Terminator | None:
    """Terminator of a block; None where the text is none; edges are without arguments."""
    words = Words(text, model)
    match words.pop():
        case "br" if words.take("label"):
            return Jump(Edge(ssa_name(words.pop())), place)
        case "br":
            condition = typed_operand(words)
            return Branch(condition, _label(words), _label(words), place)
        case "switch":
            value, _ = legal_operand(words)
            default = _label(words)
            words.expect("[")
            cases: list[tuple[int, Edge]] = []
            while not words.take("]"):
                case, _ = legal_operand(words)
                # LLVM's grammar allows nothing else.
                assert isinstance(case, Constant)
                cases.append((case.value, _label(words)))
            return Switch(value, default, tuple(cases), place)
        case "ret" if words.take("void"):
            return Return(None, place)
        case "ret":
            return Return(typed_operand(words), place)
        case "unreachable":
            return Unreachable(place)
        # Exceptions and computed jumps have edges that no target of SSA form makes.
        case "indirectbr" | "invoke" | "callbr" | "resume" as other:
            raise Unsupported("`goto *`" if other == "indirectbr" else f"LLVM's `{other}`")
        case _:
            return None


def _label(words: Words) -> Edge:
    words.expect(",")
    words.expect("label")
    return Edge(ssa_name(words.pop()))
