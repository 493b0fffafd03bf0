# SPDX-License-Identifier: Apache-2.0
"""Symbol tables of a symbolic configuration, from names to positions (the array paper, sections 5.5 and 5.6).

Constraints and conditions are pooled, because what a node executes and what its neighbours read are mostly the same
faces of the iteration space. Access mappings are rows `Q . I + P . N + q` over the untiled iteration; tile sizes are
substituted later.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field

from polyloom.ir.numbers import WIDTH
from polyloom.ir.pla import Array, Constant, Equation, Reference
from polyloom.ir.rdg import Graph
from polyloom.sets import Affine, Condition
from polyloom.sets.bounds import enclosing_bounds
from polyloom.targets.tcpa.map.registers import input_operands
from polyloom.targets.tcpa.words import symbolic as s
from polyloom.targets.tcpa.words.isa import encode_opcode


@dataclass(slots=True)
class Pool:
    """Hash-consing pool: constraints and conditions, each once, in the order in which they were first asked for."""

    dimensions: tuple[str, ...]
    parameters: tuple[str, ...]
    constraints: dict[s.Row, int] = field(default_factory=dict[s.Row, int])
    conditions: dict[tuple[tuple[int, ...], ...], int] = field(default_factory=dict[tuple[tuple[int, ...], ...], int])

    def row(self, affine: Affine) -> s.Row:
        return s.Row(
            tuple(map(affine.coefficient, self.dimensions)),
            tuple(map(affine.coefficient, self.parameters)),
            affine.constant,
        )

    def condition(self, condition: Condition) -> int:
        pieces = (
            # Sorted, so that one conjunction written in two orders is one condition.
            tuple(sorted(self.constraints.setdefault(self.row(c), len(self.constraints)) for c in p.constraints))
            for p in condition.pieces
        )
        return self.conditions.setdefault(tuple(pieces), len(self.conditions))

    def rows(self, affines: Iterable[Affine]) -> tuple[s.Row, ...]:
        return tuple(self.row(a) for a in affines)


@dataclass(frozen=True, slots=True)
class Tables:
    """What a symbolic configuration says of the program, apart from any mapping."""

    assumptions: tuple[tuple[s.Row, ...], ...]
    extents: tuple[s.Extent, ...]
    arrays: tuple[s.ArrayInfo, ...]
    constraints: tuple[s.Row, ...]
    conditions: tuple[tuple[tuple[int, ...], ...], ...]
    nodes: tuple[s.Node, ...]
    uses: tuple[s.Use, ...]
    inputs: tuple[s.InputUse, ...]
    outputs: tuple[s.OutputUse, ...]


def build_tables(graph: Graph) -> Tables:
    """Tables of a graph (the array paper, sections 5.5 and 5.6); PL0201 where a bound of the iteration space is no
    quotient of affine expressions.
    """
    program = graph.program
    pool = Pool(program.dimensions, program.parameters)
    arrays = (*program.inputs, *program.outputs)
    number = {a.name: n for n, a in enumerate(arrays)}

    def access(reference: Reference) -> s.Access:
        return s.Access(number[reference.name], pool.rows(reference.index))

    writes = [v for v, e in enumerate(graph.equations) if e.target.name in {a.name for a in program.outputs}]
    reads = list(input_operands(graph))
    # An operand that is neither a constant nor a use reads an input: the three kinds are complete for a verified graph.
    use_at = {(u.consumer, u.position): s.UseOperand(n) for n, u in enumerate(graph.uses)}
    input_at = {(v, k): s.InputOperand(n) for n, (v, k, _) in enumerate(reads)}
    nodes: list[s.Node] = []
    for v, e in enumerate(graph.equations):
        operands = tuple(
            s.ImmediateOperand(encode_immediate(e, k, o))
            if isinstance(o, Constant)
            else use_at.get((v, k)) or input_at[v, k]
            for k, o in enumerate(e.operands)
        )
        nodes.append(
            s.Node(
                encode_opcode(e.operation, e.dtype),
                pool.condition(e.condition),
                operands,
                writes.index(v) if v in writes else None,
            )
        )
    uses = tuple(
        s.Use(
            u.consumer, u.position, u.distance, tuple(s.Writer(w.node, pool.condition(w.condition)) for w in u.writers)
        )
        for u in graph.uses
    )
    return Tables(
        assumptions=tuple(pool.rows(p.constraints) for p in program.assumptions.pieces),
        extents=tuple(_extent(graph, pool, d) for d in program.dimensions),
        arrays=tuple(_array(pool, a, a in program.outputs) for a in arrays),
        constraints=tuple(pool.constraints),
        conditions=tuple(pool.conditions),
        nodes=tuple(nodes),
        uses=uses,
        inputs=tuple(s.InputUse(v, k, access(reference)) for v, k, reference in reads),
        outputs=tuple(s.OutputUse(v, access(graph.equations[v].target)) for v in writes),
    )


def encode_immediate(equation: Equation, position: int, constant: Constant) -> int:
    """Immediate encoding: the bits of a constant, 64 of an f64; integers sign-extended, floats as IEEE 754 bits, a
    shift amount below the width.
    """
    if constant.dtype == "f32":
        return struct.unpack("<I", struct.pack("<f", constant.value))[0]
    if constant.dtype == "f64":
        return struct.unpack("<Q", struct.pack("<d", constant.value))[0]
    # Amounts are taken modulo the width, as every target of the language does; the word holds the reduced one.
    is_amount = equation.operation in ("shl", "shr") and position == 1
    return int(constant.value) & (WIDTH[constant.dtype] - 1 if is_amount else 0xFFFFFFFF)


def _array(pool: Pool, array: Array, is_output: bool) -> s.ArrayInfo:
    return s.ArrayInfo(array.name, array.dtype, pool.rows(array.shape), is_output)


def _extent(graph: Graph, pool: Pool, dimension: str) -> s.Extent:
    program = graph.program
    space = Condition(tuple(dict.fromkeys(p for e in graph.equations for p in e.condition.pieces)))
    lower, upper = enclosing_bounds(space, program.dimensions, program.parameters, program.assumptions, dimension)
    return s.Extent(*(tuple(s.Bound(pool.rows(g), pool.row(n), d) for g, n, d in pieces) for pieces in (lower, upper)))
