# SPDX-License-Identifier: Apache-2.0
"""Hypothesis strategies for configurations: well formed as values, not necessarily meaningful as programs."""

from __future__ import annotations

from typing import Literal, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from polyloom.ir.operations import ELEMENT_TYPES, OPERATIONS, STORED, ElementType
from polyloom.targets.tcpa.words.concrete import (
    ArrayLayout,
    Concrete,
    Connection,
    Controller,
    ConvexSet,
    Domain,
    ElementProgram,
    Generator,
    HalfSpace,
    Place,
    Side,
)
from polyloom.targets.tcpa.words.isa import (
    Branch,
    File,
    Goto,
    Halt,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    encode_opcode,
    source_type,
)
from polyloom.targets.tcpa.words.symbolic import (
    Access,
    ArrayInfo,
    Bottleneck,
    Bound,
    Candidate,
    Extent,
    ImmediateOperand,
    InputOperand,
    InputUse,
    Kind,
    Limits,
    Link,
    Node,
    OutputUse,
    Port,
    Route,
    Row,
    Schedule,
    Symbolic,
    Use,
    UseOperand,
    Writer,
)

names = st.text(st.characters(codec="utf-8"), max_size=6)
words = st.integers(0, 2**32 - 1)
small = st.integers(0, 300)
signed = st.integers(-(2**31), 2**31 - 1)
opcodes = st.sampled_from(
    [(encode_opcode(o.name, t), o.arity) for o in OPERATIONS if o.gives not in STORED for t in o.types]
)
wide = st.integers(0, 2**64 - 1)


T = TypeVar("T")


def tuples(item: SearchStrategy[T], size: int) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(item, min_size=size, max_size=size).map(tuple)


def some(item: SearchStrategy[T], most: int = 3) -> SearchStrategy[tuple[T, ...]]:
    return st.lists(item, max_size=most).map(tuple)


registers = st.builds(Register, st.sampled_from([File.RD, File.FD, File.IO]), st.integers(0, 63))
targets = st.integers(0, 65535)
_BRANCHES: list[SearchStrategy[Branch]] = [
    st.just(Next()),
    st.just(Halt()),
    st.builds(Goto, targets),
    st.integers(1, 3).flatmap(lambda n: st.builds(If, tuples(st.integers(0, 255), n), tuples(targets, 1 << n))),
]


def bits(code: int, position: int) -> SearchStrategy[int]:
    """Of an immediate."""
    return wide if source_type(code, position) == "f64" else words


@st.composite
def instructions(draw: DrawFn) -> Instruction:
    branch = draw(st.one_of(_BRANCHES))
    if draw(st.booleans()):
        return Instruction(branch=branch)
    code, arity = draw(opcodes)
    sources = tuple(draw(st.one_of(registers, st.builds(Immediate, bits(code, k)))) for k in range(arity))
    return Instruction(code, draw(some(registers, 15)), sources, branch)


def domains(n: int) -> SearchStrategy[Domain]:
    half_space = st.builds(HalfSpace, tuples(signed, n), signed)
    return some(st.builds(ConvexSet, tuples(words, n), tuples(words, n), some(half_space, 2)), 2)


_SIDES: tuple[Side, ...] = ("north", "east", "south", "west")
_PORTS = st.tuples(st.integers(0, 4), st.integers(0, 8191))


def generators(n: int, rows: int, columns: int, arrays: int) -> SearchStrategy[Generator]:
    return st.builds(
        Generator,
        st.sampled_from(_SIDES),
        st.integers(0, 65535),
        st.integers(0, max(rows, columns) - 1),
        st.integers(0, 65535),
        st.integers(0, max(rows, columns) - 1),
        st.integers(0, arrays - 1),
        signed,
        tuples(signed, n),
        words,
        domains(n),
    )


PLACES = st.none() | st.builds(Place, st.integers(0, 65535), words)


@st.composite
def layouts(draw: DrawFn) -> ArrayLayout:
    rank = draw(st.integers(0, 3))
    return ArrayLayout(
        draw(names),
        draw(st.sampled_from(ELEMENT_TYPES)),
        draw(tuples(words, rank)),
        draw(tuples(words, rank)),
        draw(st.booleans()),
        draw(PLACES),
    )


@st.composite
def concretes(draw: DrawFn) -> Concrete:
    n, rows, columns = draw(st.integers(0, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 3))
    arrays = draw(some(layouts()))
    elements = some(st.builds(ElementProgram, some(some(instructions())), some(words), some(words)))
    classes, wrappers = draw(elements), (*draw(some(some(st.builds(Connection, _PORTS, _PORTS)))), ())
    flags, word = st.booleans(), words
    return Concrete(
        kernel=draw(names),
        machine=draw(names),
        machine_hash=draw(st.integers(0, 2**64 - 1)),
        initiation_interval=draw(words),
        rows=rows,
        columns=columns,
        extents=draw(tuples(words, n)),
        controller=draw(st.builds(Controller, flags, flags, word, word, word, word, some(domains(n)))),
        classes=classes,
        element_class=draw(tuples(tuples(st.integers(-1, len(classes) - 1), columns), rows)),
        wrappers=wrappers,
        wrapper=draw(tuples(tuples(st.integers(0, len(wrappers) - 1), columns), rows)),
        generators=draw(some(generators(n, rows, columns, len(arrays)))) if arrays else (),
        arrays=arrays,
        program=draw(names),
    )


_LOCATIONS: tuple[Literal["pe", "north", "east", "south", "west"], ...] = ("pe", "north", "east", "south", "west")
ports = st.builds(Port, st.sampled_from(_LOCATIONS), small)
hops = st.builds(Port, st.sampled_from(_LOCATIONS[1:]), small)
capacities = st.none() | small
displacements = st.tuples(st.integers(-1, 1), st.integers(-1, 1))
limits = st.builds(
    Limits,
    units=st.lists(names, min_size=1, max_size=3).map(tuple),
    fifo_depth=capacities,
    instruction_words=capacities,
    branch_flags=small,
    channels=capacities,
    adjacency=st.none() | some(st.tuples(ports, ports)),
    hop_delay=small,
    control_signals=capacities,
    signal_sets=capacities,
    half_spaces=st.booleans(),
    counter_bits=small,
    generator_dimensions=capacities,
    delay_bits=small,
    bank_words=capacities,
    rows=capacities,
    columns=capacities,
    # Of 32 bits only with what fits: `test_widths.py`.
    word_bits=st.just(64),
)


def rows_of(n: int, m: int, most: int = 200) -> SearchStrategy[Row]:
    return st.builds(
        Row, tuples(st.integers(-most, most), n), tuples(st.integers(-2, 2), m), st.integers(-(2**40), 2**40)
    )


@st.composite
def array_infos(draw: DrawFn, row: SearchStrategy[Row]) -> ArrayInfo:
    dtype: ElementType = draw(st.sampled_from(ELEMENT_TYPES))
    return ArrayInfo(draw(names), dtype, draw(some(row)), draw(st.booleans()))


class _Graph:
    """Draws nodes in turn; every register operand is a new use or input, every output a new one."""

    def __init__(
        self, draw: DrawFn, n: int, nodes: int, conditions: int, arrays: tuple[ArrayInfo, ...], row: SearchStrategy[Row]
    ) -> None:
        self.draw, self.arrays, self.row = draw, arrays, row
        self.condition = st.integers(0, conditions - 1)
        self.writers = some(st.builds(Writer, st.integers(0, nodes - 1), self.condition))
        self.distance = tuples(st.integers(-2, 2), n)
        self.uses: list[Use] = []
        self.inputs: list[InputUse] = []
        self.outputs: list[OutputUse] = []
        self.nodes = tuple(self._node(v) for v in range(nodes))

    def _node(self, v: int) -> Node:
        code, arity = self.draw(opcodes)
        operands = tuple(self._operand(v, k, code) for k in range(arity))
        output = None
        if self.arrays and self.draw(st.booleans()):
            output = len(self.outputs)
            self.outputs.append(OutputUse(v, self._access()))
        return Node(code, self.draw(self.condition), operands, output)

    def _operand(self, v: int, k: int, code: int) -> ImmediateOperand | UseOperand | InputOperand:
        kind = self.draw(st.integers(0, 2))
        if kind == 0:
            return ImmediateOperand(self.draw(bits(code, k)))
        if kind == 1 and self.arrays:
            self.inputs.append(InputUse(v, k, self._access()))
            return InputOperand(len(self.inputs) - 1)
        self.uses.append(Use(v, k, self.draw(self.distance), self.draw(self.writers)))
        return UseOperand(len(self.uses) - 1)

    def _access(self) -> Access:
        array = self.draw(st.integers(0, len(self.arrays) - 1))
        return Access(array, self.draw(tuples(self.row, len(self.arrays[array].shape))))


@st.composite
def candidates(draw: DrawFn, n: int, graph: _Graph, schedules: int) -> Candidate:
    routes = draw(some(st.builds(Route, displacements, small, some(hops), small)))
    kinds = list(Kind) if routes else [Kind.GENERAL, Kind.FEEDBACK]

    def link() -> Link:
        kind = draw(st.sampled_from(kinds))
        return Link(draw(displacements), kind, draw(st.integers(0, len(routes) - 1) if kind is Kind.CHANNEL else small))

    allocated: list[int | None] = [None, None, *draw(st.permutations(range(n)))]
    pair = draw(st.permutations(allocated))[:2]
    return Candidate(
        rows=pair[0],
        columns=pair[1],
        reflected=draw(tuples(st.booleans(), n)),
        order=tuple(draw(st.permutations(range(n)))),
        schedule=draw(st.integers(0, schedules - 1)),
        links=tuple(tuple(link() for _ in range(draw(st.integers(0, 2)))) for _ in graph.uses),
        routes=routes,
        input_registers=draw(tuples(small, len(graph.inputs))),
        output_registers=draw(tuples(small, len(graph.outputs))),
    )


@st.composite
def symbolics(draw: DrawFn) -> Symbolic:
    n, m, nodes = draw(st.integers(1, 3)), draw(st.integers(0, 2)), draw(st.integers(1, 4))
    row, parametric, limit = rows_of(n, m), rows_of(n, m, 0), draw(limits)
    bounds = some(st.builds(Bound, some(parametric), parametric, st.integers(1, 5)))
    arrays = draw(some(array_infos(parametric)))
    constraints = draw(some(row, 4))
    conjunction = st.sets(st.integers(0, len(constraints) - 1)) if constraints else st.just(set[int]())
    conditions = draw(st.lists(some(conjunction.map(lambda c: tuple(sorted(c)))), min_size=1, max_size=3).map(tuple))
    graph = _Graph(draw, n, nodes, len(conditions), arrays, row)
    offsets = tuples(small, nodes)
    schedule = st.builds(
        Schedule, st.integers(1, 300), offsets, tuples(st.integers(0, len(limit.units) - 1), nodes), offsets
    )
    schedules = draw(st.lists(schedule, min_size=1, max_size=2).map(tuple))
    return Symbolic(
        kernel=draw(names),
        machine=draw(names),
        machine_hash=draw(st.integers(0, 2**64 - 1)),
        limits=limit,
        parameters=draw(tuples(names, m)),
        dimensions=draw(tuples(names, n)),
        assumptions=draw(some(some(parametric))),
        extents=draw(tuples(st.builds(Extent, bounds, bounds), n)),
        arrays=arrays,
        constraints=constraints,
        conditions=conditions,
        nodes=graph.nodes,
        uses=tuple(graph.uses),
        inputs=tuple(graph.inputs),
        outputs=tuple(graph.outputs),
        schedules=schedules,
        candidates=draw(st.lists(candidates(n, graph, len(schedules)), min_size=1, max_size=3).map(tuple)),
        node_names=draw(tuples(names, nodes)),
        bottlenecks=draw(tuples(st.builds(Bottleneck, small, st.booleans(), names), len(schedules))),
        program=draw(names),
    )
