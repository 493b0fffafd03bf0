# SPDX-License-Identifier: Apache-2.0
"""Operation texts: the operations of a program as its report lists them, and where those of an instruction come from,
for listings.

An operation is a node of the symbolic configuration: it is issued by its unit, in one slot of the interval. An
instruction of the words may be that of several nodes, which then exclude each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.targets.provenance import Provenance
from polyloom.targets.report import Operation
from polyloom.targets.tcpa.words import notation
from polyloom.targets.tcpa.words.isa import Immediate
from polyloom.targets.tcpa.words.symbolic import ImmediateOperand, Schedule, Symbolic, UseOperand

Slots = dict[tuple[int, int, int], list[int]]
"""Nodes by unit, slot and opcode."""


def list_operations(symbolic: Symbolic, schedule: Schedule, interval: int) -> tuple[Operation, ...]:
    """One per node, in their order; `interval` is that of the words."""
    return tuple(
        Operation(
            symbolic.node_names[v],
            symbolic.limits.units[schedule.unit[v]],
            schedule.tau[v] % interval,
            operation_text(symbolic, v),
            symbolic.origins[v] if symbolic.origins else None,
        )
        for v in range(len(symbolic.nodes))
    )


def operation_text(symbolic: Symbolic, number: int) -> str:
    """What a node computes: `madd.f32 S1, A[i, k]`, with the nodes that its operands come from; `@(0, 1)` is how far
    away, in iterations. An output is behind an arrow."""
    node = symbolic.nodes[number]
    operands = [_operand(symbolic, number, k) for k in range(len(node.operands))]
    immediate = bool(node.operands) and isinstance(node.operands[-1], ImmediateOperand)
    shown = f"{notation.mnemonic(node.opcode, immediate)} {', '.join(operands)}".rstrip()
    if node.output is None:
        return shown
    access = symbolic.outputs[node.output].access
    return f"{shown} -> {symbolic.arrays[access.array].name}{_index(symbolic, access.index)}"


def _operand(symbolic: Symbolic, number: int, position: int) -> str:
    node = symbolic.nodes[number]
    operand = node.operands[position]
    if isinstance(operand, ImmediateOperand):
        return notation.fragment(Immediate(operand.bits), node.opcode, position, writes=False)
    if not isinstance(operand, UseOperand):
        access = symbolic.inputs[operand.input].access
        return f"{symbolic.arrays[access.array].name}{_index(symbolic, access.index)}"
    use = symbolic.uses[operand.use]
    names = " or ".join(dict.fromkeys(symbolic.node_names[w.node] for w in use.writers)) or "nothing"
    return f"{names}@({', '.join(map(str, use.distance))})" if any(use.distance) else names


def _index(symbolic: Symbolic, rows: Sequence[notation.Row]) -> str:
    index = ", ".join(str(notation.affine(row, symbolic.dimensions, symbolic.parameters)) for row in rows)
    return f"[{index}]" if index else ""


def nodes_by_slot(symbolic: Symbolic, schedule: Schedule, interval: int) -> Slots:
    """Which nodes an instruction may be of."""
    found: Slots = {}
    for v, node in enumerate(symbolic.nodes):
        found.setdefault((schedule.unit[v], schedule.tau[v] % interval, node.opcode), []).append(v)
    return found


def provenance_text(places: Sequence[Provenance]) -> str:
    """Where an instruction comes from, on one line: `gemm.py:19 C[i, j] += ...`; nothing where nobody knows. What is
    only there for the array's sake comes after `for`."""
    written = dict.fromkeys(_short(p) for p in places if p.line and not p.reason)
    added = [text for text in dict.fromkeys(_short(p) for p in places if p.reason) if text not in written]
    return " | ".join([*written, *(["for " + " | ".join(added)] if added else [])])


def _short(place: Provenance) -> str:
    if not place.line:
        return place.reason
    return " ".join(part for part in (f"{place.file}:{place.line}", place.statement) if part)
