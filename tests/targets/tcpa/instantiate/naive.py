# SPDX-License-Identifier: Apache-2.0
"""Small programs and a mapper without ambition, so that instantiation can be tested alone.

A program is written as text; `symbolic` gives every variable its own unit, every use its own registers, and every
processor displacement its own channel. `reference` computes what the program means, by recursion over its instances.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from polyloom.targets.tcpa.words.isa import decode_opcode, encode_opcode
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

UNLIMITED = Limits(
    units=(),
    fifo_depth=None,
    instruction_words=None,
    branch_flags=3,
    channels=None,
    adjacency=None,
    hop_delay=0,
    control_signals=None,
    signal_sets=None,
    half_spaces=True,
    counter_bits=32,
    generator_dimensions=None,
    delay_bits=32,
    bank_words=None,
    rows=None,
    columns=None,
    word_bits=64,
)


@dataclass(frozen=True)
class Program:
    """`sizes` are the loop bounds (0 <= index < size). An equation reads `target = op operand operand if a >= 0 and
    ...`; an operand is `#3`, `x[0,-1]` (an offset of an internal variable) or `in(i, j)`; a target is `x` or `out(i,
    j)`."""

    dims: tuple[str, ...]
    params: tuple[str, ...]
    sizes: tuple[str, ...]
    arrays: Mapping[str, tuple[str, ...]]
    equations: tuple[str, ...]


@dataclass(frozen=True)
class Equation:
    target: str
    index: tuple[str, ...] | None
    operation: str
    operands: tuple[str, ...]
    conditions: tuple[str, ...]


_CALL = re.compile(r"(\w+)\((.*)\)$")


def parse(text: str) -> Equation:
    left, _, rest = text.partition("=")
    body, _, condition = rest.partition(" if ")
    operation, *operands = re.findall(r"\w+\([^)]*\)|\w+\[[^\]]*\]|#-?\d+|\w+", body)
    call = _CALL.match(left.strip())
    index = tuple(x.strip() for x in call[2].split(",") if x.strip()) if call else None
    conditions = tuple(c.replace(">= 0", "").strip() for c in condition.split(" and ")) if condition else ()
    return Equation(call[1] if call else left.strip(), index, operation, tuple(operands), conditions)


def row(text: str, program: Program) -> Row:
    def at(**point: int) -> int:
        zero = dict.fromkeys((*program.dims, *program.params), 0)
        return int(eval(text, {}, zero | point))

    constant = at()
    return Row(
        tuple(at(**{n: 1}) - constant for n in program.dims),
        tuple(at(**{n: 1}) - constant for n in program.params),
        constant,
    )


def offset(operand: str) -> tuple[int, ...]:
    return tuple(-int(x) for x in operand[operand.index("[") + 1 : -1].split(","))


def symbolic(
    program: Program,
    *,
    rows: int | None,
    columns: int | None,
    order: tuple[int, ...],
    reflected: tuple[bool, ...] | None = None,
    interval: int = 1,
    limits: Limits = UNLIMITED,
    latency: int = 1,
    share: bool = False,
) -> Symbolic:
    """`share`: a variable's input and its neighbours' values come through one input register; right where no element
    has both."""
    equations = [parse(e) for e in program.equations]
    reflected = reflected or (False,) * len(program.dims)
    signs = [-1 if r else 1 for r in reflected]
    constraints: list[Row] = []
    conditions: list[tuple[tuple[int, ...], ...]] = []

    def constraint(r: Row) -> int:
        if r not in constraints:
            constraints.append(r)
        return constraints.index(r)

    def condition(rows: list[Row]) -> int:
        conjunction = (tuple(sorted({constraint(r) for r in rows})),)
        if conjunction not in conditions:
            conditions.append(conjunction)
        return conditions.index(conjunction)

    box = [row(d, program) for d in program.dims] + [
        row(f"{s} - 1 - {d}", program) for d, s in zip(program.dims, program.sizes, strict=True)
    ]
    spaces = [box + [row(c, program) for c in e.conditions] for e in equations]
    arrays = tuple(
        ArrayInfo(name, "i32", tuple(row(s, program) for s in shape), any(e.target == name for e in equations))
        for name, shape in program.arrays.items()
    )
    names = [a.name for a in arrays]
    variables = list(dict.fromkeys(e.target for e in equations))
    nodes: list[Node] = []
    uses: list[Use] = []
    inputs: list[InputUse] = []
    outputs: list[OutputUse] = []
    for v, e in enumerate(equations):
        operands: list[ImmediateOperand | UseOperand | InputOperand] = []
        for position, text in enumerate(e.operands):
            call = _CALL.match(text)
            if text.startswith("#"):
                operands.append(ImmediateOperand(int(text[1:]) & 0xFFFFFFFF))
            elif call:
                index = tuple(row(x, program) for x in call[2].split(",") if x.strip())
                operands.append(InputOperand(len(inputs)))
                inputs.append(InputUse(v, position, Access(names.index(call[1]), index)))
            else:
                d = offset(text) if "[" in text else (0,) * len(program.dims)
                writers: list[Writer] = []
                for w, p in enumerate(equations):
                    if p.target == text.partition("[")[0]:
                        moved = [
                            replace(r, constant=r.constant + sum(a * x for a, x in zip(r.dims, d, strict=True)))
                            for r in spaces[v]
                        ]
                        writers.append(Writer(w, condition(spaces[w] + moved)))
                operands.append(UseOperand(len(uses)))
                uses.append(Use(v, position, d, tuple(writers)))
        output = None
        if e.index is not None:
            output = len(outputs)
            outputs.append(OutputUse(v, Access(names.index(e.target), tuple(row(x, program) for x in e.index))))
        nodes.append(Node(encode_opcode(e.operation, "i32"), condition(spaces[v]), tuple(operands), output))
    tau = _offsets(equations, variables, uses, latency)
    schedule = Schedule(
        interval,
        tuple(tau[e.target] for e in equations),
        tuple(variables.index(e.target) for e in equations),
        (latency,) * len(equations),
    )
    links: list[tuple[Link, ...]] = []
    routes: list[Route] = []
    for u, use in enumerate(uses):
        d = [s * x for s, x in zip(signs, use.distance, strict=True)]
        producer = use.writers[0].node
        own = next(
            (
                n
                for n, i in enumerate(inputs)
                if share and equations[i.consumer].target == equations[use.consumer].target
            ),
            None,
        )
        held = schedule.tau[use.consumer] - schedule.tau[producer] - latency
        kind = Kind.GENERAL if not any(d) and held < interval else Kind.FEEDBACK
        mine = [Link((0, 0), kind, u)]
        along = [0 if m is None or not d[m] else (1 if d[m] > 0 else -1) for m in (rows, columns)]
        for delta in sorted(set(product({0, along[0]}, {0, along[1]})) - {(0, 0)}):
            hops = [Port("south" if delta[0] > 0 else "north", len(routes))] if delta[0] else []
            hops += [Port("east" if delta[1] > 0 else "west", len(routes))] if delta[1] else []
            mine.append(Link(delta, Kind.CHANNEL, len(routes)))
            routes.append(
                Route(delta, len(routes) + len(outputs), tuple(hops), len(routes) + len(inputs) if own is None else own)
            )
        links.append(tuple(mine))
    candidate = Candidate(
        rows,
        columns,
        reflected,
        order,
        0,
        tuple(links),
        tuple(routes),
        tuple(range(len(inputs))),
        tuple(range(len(outputs))),
    )
    none = (0,) * len(program.dims)
    extents = tuple(
        Extent((Bound((), Row(none, (0,) * len(program.params), 0)),), (Bound((), row(f"{s} - 1", program)),))
        for s in program.sizes
    )
    return Symbolic(
        kernel="test",
        machine="test",
        machine_hash=0,
        limits=replace(limits, units=tuple(f"u{n}" for n in range(len(variables)))),
        parameters=program.params,
        dimensions=program.dims,
        assumptions=(tuple(row(p, program) for p in program.params),),
        extents=extents,
        arrays=arrays,
        constraints=tuple(constraints),
        conditions=tuple(conditions),
        nodes=tuple(nodes),
        uses=tuple(uses),
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        schedules=(schedule,),
        candidates=(candidate,),
        node_names=program.equations,
        bottlenecks=(Bottleneck(interval, False, ""),),
    )


def _offsets(equations: list[Equation], variables: list[str], uses: list[Use], latency: int) -> dict[str, int]:
    tau = dict.fromkeys(variables, 0)
    for _ in variables:
        for use in uses:
            if not any(use.distance):
                consumer = equations[use.consumer].target
                tau[consumer] = max(tau[consumer], tau[equations[use.writers[0].node].target] + latency)
    return tau


def execute(code: int, operands: list[int]) -> int:
    name, _ = decode_opcode(code)
    a = operands
    results: dict[str, Callable[[], int]] = {
        "move": lambda: a[0],
        "add": lambda: a[0] + a[1],
        "mul": lambda: a[0] * a[1],
        "shr": lambda: a[0] >> a[1] % 32,
        "and": lambda: a[0] & a[1],
    }
    return results[name]() & 0xFFFFFFFF


Cells = dict[tuple[str, tuple[int, ...]], int]


def reference(program: Program, values: Mapping[str, int], data: Cells) -> Cells:
    """The output elements, by (array, index)."""
    equations = [parse(e) for e in program.equations]
    sizes = [int(eval(s, {}, dict(values))) for s in program.sizes]

    def holds(e: Equation, point: tuple[int, ...]) -> bool:
        scope = dict(values) | dict(zip(program.dims, point, strict=True))
        return all(eval(c, {}, scope) >= 0 for c in e.conditions)

    def index(texts: str, point: tuple[int, ...]) -> tuple[int, ...]:
        scope = dict(values) | dict(zip(program.dims, point, strict=True))
        return tuple(int(eval(x, {}, scope)) for x in texts.split(",") if x.strip())

    @cache
    def value(name: str, point: tuple[int, ...]) -> int:
        (e,) = (e for e in equations if e.target == name and e.index is None and holds(e, point))
        return apply(e, point)

    def apply(e: Equation, point: tuple[int, ...]) -> int:
        return execute(encode_opcode(e.operation, "i32"), [operand(o, point) for o in e.operands])

    def operand(text: str, point: tuple[int, ...]) -> int:
        call = _CALL.match(text)
        if text.startswith("#"):
            return int(text[1:])
        if call:
            return data[call[1], index(call[2], point)]
        d = offset(text) if "[" in text else (0,) * len(point)
        return value(text.partition("[")[0], tuple(x - y for x, y in zip(point, d, strict=True)))

    found: Cells = {}
    for point in product(*(range(s) for s in sizes)):
        for e in equations:
            if e.index is not None and holds(e, point):
                found[e.target, index(",".join(e.index), point)] = apply(e, point)
    return found
