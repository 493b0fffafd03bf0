# SPDX-License-Identifier: Apache-2.0
"""Dependence edges of an operation of the array, for debuggers: its operands at one iteration (the array paper, section
4), and which nodes are the values of statements.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.frontend.source import Arrays
from polyloom.targets.stepper import Operand, element_name
from polyloom.targets.tcpa.words.event_resolution import Known
from polyloom.targets.tcpa.words.symbolic import Access, ImmediateOperand, InputOperand, Row

Index = tuple[int, ...]


def statement_name(name: str) -> str:
    """Statement of a node: `S2` of `S2.1`."""
    return name.partition(".")[0]


def find_parts(known: Known | None) -> frozenset[int]:
    """Nodes whose values another node of the same statement takes in the same iteration."""
    if known is None:
        return frozenset()
    symbolic = known.symbolic
    names = [statement_name(name) for name in symbolic.node_names]
    return frozenset(
        writer.node
        for number, node in enumerate(symbolic.nodes)
        for operand in node.operands
        if not isinstance(operand, ImmediateOperand | InputOperand)
        for writer in symbolic.uses[operand.use].writers
        if not any(symbolic.uses[operand.use].distance) and names[writer.node] == names[number]
    )


def list_operands(phase: int, inputs: Arrays, known: Known, node: int, point: Index) -> Iterator[Operand]:
    """Operands of an operation: constants, elements of input arrays, and results of other operations. These have no
    value here: whoever keeps the events knows it.
    """
    for operand in known.symbolic.nodes[node].operands:
        if isinstance(operand, ImmediateOperand):
            yield Operand("constant", f"0x{operand.bits:x}", None)
        elif isinstance(operand, InputOperand):
            access = known.symbolic.inputs[operand.input].access
            array, index = known.symbolic.arrays[access.array].name, element_index(known, access, point)
            held = inputs.get(array)
            value = str(held[index]) if held is not None else ""
            yield Operand(element_name(array, index), value, (phase, "in", array, index))
        else:
            use = known.symbolic.uses[operand.use]
            source = tuple(i - d for i, d in zip(point, use.distance, strict=True))
            for writer in use.writers:
                # Conditions of writers are disjoint: the first that holds is the only one.
                if _holds(known, writer.condition, source):
                    key = (phase, writer.node, source)
                    yield Operand(known.symbolic.node_names[writer.node], "", key)
                    break


def element_index(known: Known, access: Access, point: Index) -> Index:
    return tuple(_row_value(known, row, point) for row in access.index)


def _row_value(known: Known, row: Row, point: Index) -> int:
    """Value of a row at one point: NumPy would take many times as long for so few numbers."""
    constant = row.constant + sum(c * v for c, v in zip(row.params, known.values, strict=True))
    return constant + sum(c * i for c, i in zip(row.dims, point, strict=True))


def _holds(known: Known, condition: int, point: Index) -> bool:
    """Whether a condition holds at one point (`event_resolution.evaluate_condition`)."""
    rows = known.symbolic.constraints
    return any(
        all(_row_value(known, rows[number], point) >= 0 for number in conjunction)
        for conjunction in known.symbolic.conditions[condition]
    )
