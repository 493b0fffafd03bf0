# SPDX-License-Identifier: Apache-2.0
"""A counted loop as passes over whole vectors, and at most one pass of masked lanes behind them.

head:    whole = count / lanes, left = count % lanes; without a whole pass -> last
loop:    as the scalar loop, with vectors: no lane is masked, so it has no more operations than that
last:    without what is left -> end; else one pass as open code, lanes masked by `remaining(left)` -> end
end:     reductions of lanes, on to the block behind the scalar loop
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from polyloom.targets.belt.front.addresses import materialized
from polyloom.targets.belt.front.affine import Form, W, entry
from polyloom.targets.belt.front.hoist import before
from polyloom.targets.belt.front.lower import constant
from polyloom.targets.belt.front.simplify import block_with
from polyloom.targets.belt.ir import Block, Branch, Constant, Edge, Function, Jump, Loop, Op, Operand, Type, Value
from polyloom.targets.belt.vectorize.analyse import Plan, Refused
from polyloom.targets.belt.vectorize.behind import Behind, Exit
from polyloom.targets.belt.vectorize.rewrite import Lanes

Fresh = Callable[[str], str]


def in_whole_passes(function: Function, plan: Plan, fresh: Fresh) -> Function:
    """The function with the loop of the plan, which is counted and has no other exit. Raises Refused."""
    return _Whole(function, plan, fresh).function()


@dataclass(slots=True)
class _Whole:
    """Mutable: what is computed before the loop."""

    source: Function
    plan: Plan
    fresh: Fresh
    head: list[Op] = field(default_factory=list[Op])

    def function(self) -> Function:
        loop, lanes = self.plan.loop, self.plan.lanes
        assert self.plan.counted is not None
        leave, count = self.plan.counted
        spread: dict[Operand, Operand] = {}
        passes = Lanes(self.source, self.plan, self.fresh, self.head, spread=spread)
        passes.line()
        last = Lanes(self.source, self.plan, self.fresh, self.head, spread=spread)
        total = materialized(count, self.head, self.fresh)
        span = self._before("and", total, constant(W, -lanes))
        left = self._before("and", total, constant(W, lanes - 1))
        none = self._before("eql", span, constant(W, 0), type=Type("b"))
        last.mask(left)
        last.line()
        carried = list(self.plan.reductions.values())
        first = tuple(passes.identity(op) for op in carried)
        names = {part: self.fresh(part) for part in ("head", "passed", "last", "masked", "end")}
        begun = Jump(Edge(loop.name, (*self._begin(), *first)))
        made = [
            self._loop(passes, span, names["passed"]),
            Block(names["head"], (), (), begun),
            *self._last(last, left, names, carried, passes, span),
            self._end(leave, names["end"], carried),
        ]
        ahead = before(self.source, loop)
        entering = Branch(none, Edge(names["last"], first), Edge(names["head"]))
        blocks: list[Block | Loop] = []
        for block in self.source.blocks:
            if block.name == ahead.name:
                blocks.append(replace(ahead, ops=(*ahead.ops, *self.head), terminator=entering))
            elif block.name != loop.name:
                blocks.append(block)
            else:
                blocks += made
        return replace(self.source, blocks=tuple(blocks))

    def _before(self, name: str, *operands: Operand, type: Type = W) -> Value:
        self.head.append(Op(name, operands, (Value(self.fresh("n"), type),)))
        return self.head[-1].results[0]

    def _begin(self) -> list[Operand]:
        """What the counters are at first, in the order of the parameters."""
        arguments = dict(zip((p.name for p in self.plan.loop.parameters), self._entered(), strict=True))
        return [arguments[p.name] for p in self.plan.loop.parameters if p.name in self.plan.steps]

    def _entered(self) -> tuple[Operand, ...]:
        return entry(self.source, self.plan.loop).arguments

    def _after(self, counter: str, span: Value, to: list[Op]) -> Operand:
        """A counter behind all whole passes."""
        names = [p.name for p in self.plan.loop.parameters]
        begin = self._entered()[names.index(counter)]
        match begin:
            case Constant(_, bits):
                form = Form(bits)
            case Value(name):
                form = Form(0, ((name, 1),))
            case _:
                raise Refused("a counter begins at an address")
        return materialized(form + Form(0, ((span.name, 1),)) * self.plan.steps[counter], to, self.fresh)

    def _loop(self, passes: Lanes, span: Value, landing: str) -> Loop:
        loop, lanes = self.plan.loop, self.plan.lanes
        counters = [p for p in loop.parameters if p.name in self.plan.steps]
        if not counters:
            raise Refused("it has no counter")
        last = self._after(counters[0].name, span, self.head)
        grown = [passes.emit("add", c, constant(W, self.plan.steps[c.name] * lanes), type=W) for c in counters]
        ended = passes.emit("eql", grown[0], last, type=Type("b"))
        sums = tuple(passes.vectors[op.results[0]] for op in self.plan.reductions.values())
        passes.ops.append(Op("leavetr", (ended,), edge=Edge(landing, sums), place=loop.place))
        carried = [passes.carried[name] for name in self.plan.reductions]
        expected = None if loop.expected is None else max(1, loop.expected // lanes)
        return replace(
            loop,
            parameters=(*counters, *carried),
            ops=tuple(passes.ops),
            next=(*grown, *sums),
            order=(),
            expected=expected,
        )

    def _last(
        self,
        last: Lanes,
        left: Value,
        names: dict[str, str],
        carried: list[Op],
        passes: Lanes,
        span: Value,
    ) -> list[Block]:
        """From the loop or past it: the masked pass, unless nothing is left."""
        types = [passes.vectors[op.results[0]].type for op in carried]
        passed = tuple(Value(self.fresh("sum"), type) for type in types)
        parameters = tuple(Value(self.fresh("sum"), type) for type in types)
        nothing = Value(self.fresh("n"), Type("b"))
        test = Op("eql", (left, constant(W, 0)), (nothing,))
        counters: list[Op] = []
        known: dict[Operand, Operand] = {Value(name, W): self._after(name, span, counters) for name in self.plan.steps}
        known |= dict(zip((last.carried[name] for name in self.plan.reductions), parameters, strict=True))
        sums = tuple(last.vectors[op.results[0]] for op in carried)
        masked = Block(names["masked"], (), tuple(last.ops), Jump(Edge(names["end"], sums)))
        moved = block_with(masked, lambda o: known.get(o, o))
        assert isinstance(moved, Block)
        ways = Branch(nothing, Edge(names["end"], parameters), Edge(masked.name))
        return [
            Block(names["passed"], passed, (), Jump(Edge(names["last"], passed))),
            Block(names["last"], parameters, (test,), ways),
            replace(moved, ops=(*counters, *moved.ops)),
        ]

    def _end(self, leave: Op, name: str, carried: list[Op]) -> Block:
        lanes = self.plan.lanes
        sums = {op.results[0]: Value(self.fresh("sum"), Type(op.results[0].type.width, lanes)) for op in carried}
        position = self.plan.loop.ops.index(leave)
        vectors: dict[Operand, Operand] = {**sums}
        behind = Behind(self.source, self.plan, self.fresh, [Exit(leave, position, None)], vectors, None, None)
        arrival = behind.blocks()[1][-1]
        back: dict[Operand, Operand] = {passed: value for value, passed in behind.taken.items()}
        block = block_with(arrival, lambda o: back.get(o, o))
        assert isinstance(block, Block)
        return replace(block, name=name, parameters=tuple(sums.values()))
