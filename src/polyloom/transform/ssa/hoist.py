# SPDX-License-Identifier: Apache-2.0
"""Loop-invariant code motion: what a loop computes of values from outside alone is computed in front of it, loads too
where no store of the loop may change what they read (Aho, Lam, Sethi, Ullman, "Compilers", 2006, section 9.5).

What has neither effect nor fault moves from everywhere in the loop; a load only from where every iteration comes
through before anything else can end the loop, so that it is executed anyway. What a user has for nothing, such as a
near distance in a load, or a comparison in a branch, is left where it is: moved, it would take a register.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.aliases import Aliases, is_plain_load
from polyloom.analysis.effects import externals_by_name
from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import (
    COMPARISONS,
    SPECULATIVE,
    Block,
    Constant,
    Function,
    Instruction,
    Value,
    flow_edges,
    successor_edges,
)
from polyloom.transform.ssa.body import Body, entering_block
from polyloom.transform.ssa.function_editing import on_each_function
from polyloom.transform.ssa.preheaders import with_preheaders
from polyloom.transform.ssa.speculation import NOTHING, Speculation, as_speculative

NEAR: Final = 1024
"""Distances that loads and stores hold, with room for what is added to them."""


@dataclass(frozen=True, slots=True)
class HoistCosts:
    """`near` is how far from a register an access reaches; `is_part` tells what is a part of its users on the machine;
    `loads` is after how many loads a loop has enough of them in registers. What `speculation` lets run moves from
    everywhere in the loop. `outside` as for `Aliases`."""

    near: int = NEAR
    is_part: Callable[[Instruction], bool] = lambda instruction: instruction.operation in COMPARISONS
    loads: int = 10
    speculation: Speculation = NOTHING
    outside: bool = False


@on_each_function
def hoist(function: Function, costs: HoistCosts | None = None) -> Function:
    """Loop-invariant code motion (Muchnick 1997, section 13.2): the function with what stays the same in front of its
    loops, the innermost first.
    """
    function = with_preheaders(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    if not forest.loops:
        return function
    body, work = Body(function), Hoisting(function, costs or HoistCosts(), forest)
    for number in reversed(range(len(forest.loops))):
        if not forest.loops[number].irreducible:
            work.move(body, number)
    return replace(function, blocks=tuple(body.blocks))


class Hoisting:
    """Of a function whose loops have preheaders."""

    def __init__(self, function: Function, costs: HoistCosts, forest: LoopForest) -> None:
        self.costs, self.forest = costs, forest
        self.aliases, self.externals = Aliases(function, costs.outside), externals_by_name(function)

    def move(self, body: Body, number: int) -> None:
        """From one loop to the end of the block that enters it."""
        members = self.forest.members(number)
        entry = entering_block(body, self.forest.loops[number], members)
        defined = set(body.scope(members).defined)
        writers = [i for k in members for i in body.blocks[k].instructions if self.aliases.may_write(i)]
        always = set(unconditional_blocks(body.blocks, self.forest.loops[number].header, members))
        left = self.costs.loads
        changed = True
        while changed:
            changed = False
            for k in members:
                moved = list(dict.fromkeys(self._movable(body, k, defined, writers, always if left > 0 else ())))
                if moved:
                    changed, left = True, left - sum(map(is_plain_load, moved))
                    gone = {i.results[0].name for i in moved}
                    kept = tuple(i for i in body.blocks[k].instructions if i not in moved)
                    body.blocks[k] = replace(body.blocks[k], instructions=kept)
                    body.append(entry, *(self._speculate(i, k in always) for i in moved))
                    # What moved is now from outside: more may have become invariant.
                    defined -= gone

    def _movable(
        self, body: Body, k: int, defined: set[str], writers: Sequence[Instruction], always: Collection[int]
    ) -> Iterator[Instruction]:
        for instruction in body.blocks[k].instructions:
            # Stores and calls without a result stay.
            if len(instruction.results) != 1:
                continue
            stays = all(not isinstance(o, Value) or o.name not in defined for o in instruction.operands)
            runs = self.costs.speculation.runs(instruction, self.externals)
            if is_plain_load(instruction):
                near = None if stays else self._invariant_offset(body, k, instruction, defined)
                executed = k in always or runs
                if (stays or near) and executed and not any(self.aliases.may_meet(instruction, w) for w in writers):
                    # The distance first: alone it would stay, as a part of the load.
                    yield instruction if near is None else near
            elif instruction.operation != "load" and stays and runs and not self._is_free(instruction):
                yield instruction

    def _invariant_offset(self, body: Body, k: int, load: Instruction, defined: set[str]) -> Instruction | None:
        """What makes the address of a load in its block, at a constant distance from what stays."""
        made = next((i for i in body.blocks[k].instructions if load.operands[0] in i.results), None)
        if made is None or made.operation != "offset":
            return None
        return None if any(isinstance(o, Value) and o.name in defined for o in made.operands) else made

    def _speculate(self, i: Instruction, always: bool) -> Instruction:
        """In front of the loop: flags exclude values where the instruction stood; here it is executed more often."""
        asked = always and SPECULATIVE not in i.flags and is_plain_load(i)
        return replace(i, flags=()) if asked else as_speculative(i, self.externals)

    def _is_free(self, instruction: Instruction) -> bool:
        if instruction.operation == "offset" and isinstance(distance := instruction.operands[1], Constant):
            # The distance is a part of the access, and needs no register of its own.
            return abs(distance.value) < self.costs.near
        return self.costs.is_part(instruction)


def unconditional_blocks(blocks: Sequence[Block], header: int, members: Sequence[int]) -> list[int]:
    """The blocks of a loop that control comes through whenever it is entered: the header, and what follows it alone."""
    position = {block.name: k for k, block in enumerate(blocks)}
    inside, found, k = set(members), list[int](), header
    while k in inside and k not in found:
        found.append(k)
        targets = {position[edge.block] for edge in successor_edges(blocks[k].terminator)}
        if len(targets) != 1:
            break
        (k,) = targets
    return found
