# SPDX-License-Identifier: Apache-2.0
"""A counted loop as passes over whole vectors, and at most one pass of masked lanes behind them.

ahead:   whole = count / lanes, left = count % lanes; without a whole pass -> last
loop:    as the scalar loop, with vectors: no lane is masked, so it has no more operations than that
last:    without what is left -> end; else one pass with lanes masked -> end
end:     reductions of lanes, on to the block behind the scalar loop
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from polyloom.analysis.affine import atom_form
from polyloom.analysis.superblocks import SideExit, Superblock, entry_edge, with_superblock
from polyloom.ir.ssa import Block, Branch, Edge, Function, Instruction, Jump, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I1, PTR, Type
from polyloom.transform.ssa.function_editing import with_operands
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.vectorize.analyse import Plan, Refused
from polyloom.transform.ssa.vectorize.exits import Behind, begin_form
from polyloom.transform.ssa.vectorize.lanes import LaneExit, Lanes

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
    head: list[Instruction] = field(default_factory=list[Instruction])

    def function(self) -> Function:
        loop, lanes = self.plan.loop, self.plan.lanes
        assert self.plan.counted is not None
        e, count = self.plan.counted
        passes = Lanes(self.source, self.plan, self.fresh, self.head)
        passes.compute()
        passes.realize()
        last = Lanes(self.source, self.plan, self.fresh, self.head, passes.spread)
        total = materialize(count, self.head, self.fresh, self.source.address)
        # Lanes are a power of two: the quotient's part of the count is a mask away.
        span = self._emit_preheader("and", total, integer_constant(total.type, -lanes), type=total.type)
        left = self._emit_preheader("and", total, integer_constant(total.type, lanes - 1), type=total.type)
        none = self._emit_preheader("eq", span, integer_constant(total.type, 0), type=I1)
        last.mask_excess_lanes(left)
        last.compute()
        last.realize()
        reducing = list(self.plan.reductions.values())
        first = tuple(passes.identity(i) for i in reducing)
        end = self._end(e, reducing)
        begin = Block(self.fresh("head"), (), (), Jump(Edge(loop.name, (*self._begin(), *first))))
        behind = self._masked_pass(last, left, span, reducing, end)
        vectors = self._loop(passes, span, behind[0].name)
        entering = Branch(none, Edge(behind[0].name, first), Edge(begin.name))
        ahead = entry_edge(self.source, loop)[0]
        function = with_superblock(self.source, vectors, self.fresh)
        entered = replace(ahead, instructions=(*ahead.instructions, *self.head), terminator=entering)
        blocks: list[Block] = []
        for block in function.blocks:
            blocks += [entered, begin] if block is ahead else [block]
            blocks += [*behind, end] if block.name == loop.name else []
        return replace(function, blocks=tuple(blocks))

    def _emit_preheader(self, operation: str, *operands: Operand, type: Type) -> Value:
        self.head.append(Instruction(operation, operands, (Value(self.fresh("n"), type),)))
        return self.head[-1].results[0]

    def _begin(self) -> list[Operand]:
        """What the counters are at first, in the order of the variables."""
        given = entry_edge(self.source, self.plan.loop)[1].arguments
        return [a for p, a in zip(self.plan.loop.parameters, given, strict=True) if p in self.plan.steps]

    def _final_counter(self, counter: Value, span: Value, to: list[Instruction]) -> Operand:
        """A counter behind all whole passes."""
        given = entry_edge(self.source, self.plan.loop)[1].arguments
        begin = begin_form(given[self.plan.loop.parameters.index(counter)])
        return materialize(begin + atom_form(span) * self.plan.steps[counter], to, self.fresh, self.source.address)

    def _loop(self, passes: Lanes, span: Value, behind: str) -> Superblock:
        loop, lanes = self.plan.loop, self.plan.lanes
        counters = [p for p in loop.parameters if p in self.plan.steps]
        if not counters:
            raise Refused("it has no counter")
        # One counter's last value replaces the scalar loop's test.
        last = self._final_counter(counters[0], span, self.head)
        grown = [advance(c, self.plan.steps[c] * lanes, passes.line, self.fresh, self.source) for c in counters]
        ended = Value(self.fresh("ended"), I1)
        passes.line.append(Instruction("eq", (grown[0], last), (ended,)))
        sums = tuple(passes.vectors[i.results[0]] for i in self.plan.reductions.values())
        e = SideExit(len(passes.line), ended, True, Edge(behind, sums), loop.place)
        carried = (passes.carried[variable] for variable in self.plan.reductions)
        parameters = (*counters, *carried)
        return replace(
            loop, parameters=parameters, instructions=tuple(passes.line), exits=(e,), following=(*grown, *sums)
        )

    def _masked_pass(
        self, last: Lanes, left: Value, span: Value, reducing: Sequence[Instruction], end: Block
    ) -> tuple[Block, Block]:
        """From the loop or past it: the masked pass, unless nothing is left."""
        parameters = tuple(Value(self.fresh("sum"), last.vectors[i.results[0]].type) for i in reducing)
        nothing = Value(self.fresh("n"), I1)
        test = Instruction("eq", (left, integer_constant(left.type, 0)), (nothing,))
        counters: list[Instruction] = []
        known: dict[Operand, Operand] = {c: self._final_counter(c, span, counters) for c in self.plan.steps}
        known |= dict(zip((last.carried[variable] for variable in self.plan.reductions), parameters, strict=True))
        sums = tuple(last.vectors[i.results[0]] for i in reducing)
        masked = Block(self.fresh("masked"), (), tuple(last.line), Jump(Edge(end.name, sums)))
        moved = with_operands(masked, lambda o: known.get(o, o))
        ways = Branch(nothing, Edge(end.name, parameters), Edge(masked.name))
        return (
            Block(self.fresh("last"), parameters, (test,), ways),
            replace(moved, instructions=(*counters, *moved.instructions)),
        )

    def _end(self, e: SideExit, reducing: Sequence[Instruction]) -> Block:
        lanes = self.plan.lanes
        sums = [Value(self.fresh("sum"), i.results[0].type.with_lanes(lanes)) for i in reducing]
        vectors: dict[Operand, Operand] = {i.results[0]: s for i, s in zip(reducing, sums, strict=True)}
        arrival = Behind(self.source, self.plan, self.fresh, [LaneExit(e, None)], vectors).blocks()[-1]
        return replace(arrival, parameters=tuple(sums))


def advance(counter: Value, step: int, to: list[Instruction], fresh: Fresh, function: Function) -> Value:
    """The counter some steps later."""
    result = Value(fresh(counter.name), counter.type)
    operation = "offset" if counter.type == PTR else "add"
    to.append(Instruction(operation, (counter, integer_constant(function.address, step)), (result,)))
    return result
