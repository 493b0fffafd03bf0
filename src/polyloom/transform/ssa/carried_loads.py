# SPDX-License-Identifier: Apache-2.0
"""Scalar replacement across iterations: a load of what the iteration before has stored or loaded becomes a variable of
the loop (Callahan, Carr, Kennedy, "Improving Register Allocation for Subscripted Variables", 1990).

The address is translated to the next iteration by what the counters become; where the value there is known at the end
of the loop, it is passed on. The first iteration's value is loaded in front of the loop, which is entered only where
the load is executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.affine import Affine, atom_form
from polyloom.analysis.aliases import Aliases, Location, is_plain_load
from polyloom.analysis.available_values import AvailableValues, Facts
from polyloom.analysis.dominators import dominators
from polyloom.analysis.loops import loop_forest
from polyloom.ir.ssa import Constant, Edge, Function, Instruction, Jump, Operand, Value, flow_edges, successor_edges
from polyloom.transform.ssa.body import Body, Place, loop_place
from polyloom.transform.ssa.function_editing import on_each_function, with_operands
from polyloom.transform.ssa.hoist import unconditional_blocks
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.preheaders import with_preheaders


@dataclass(frozen=True, slots=True)
class CarryCosts:
    """`loads`: what was loaded is passed on, too; a machine that copies registers one by one wins nothing by it."""

    loads: bool = False


@on_each_function
def carry_loads(function: Function, costs: CarryCosts | None = None) -> Function:
    """Scalar replacement of loop-carried loads (Callahan, Carr, Kennedy 1990): the function with such loads as
    variables of their loops.
    """
    function = with_preheaders(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    if not forest.loops:
        return function
    above: list[int] = dominators(len(function.blocks), edges).tolist()
    body, available = Body(function), AvailableValues(function, Aliases(function))
    known: dict[str, Operand] = {}
    for number in range(len(forest.loops)):
        place = loop_place(body, forest, number, above)
        if place is not None:
            known |= _Carrying(body, place, available, costs or CarryCosts()).rewrite()
    if not known:
        return function

    def operand(old: Operand) -> Operand:
        return known.get(old.name, old) if isinstance(old, Value) else old

    return replace(function, blocks=tuple(with_operands(block, operand) for block in body.blocks))


@dataclass(frozen=True, slots=True)
class _Carried:
    """A load, and what it gives in the next iteration."""

    load: Instruction
    following: Operand


class _Carrying:
    """One loop: its variables, by name what they begin and go on with."""

    def __init__(self, body: Body, place: Place, available: AvailableValues, costs: CarryCosts) -> None:
        self.body, self.place, self.available, self.costs = body, place, available, costs
        self.loaded = {
            r for k in place.members for i in body.blocks[k].instructions if is_plain_load(i) for r in i.results
        }
        self.aliases = available.aliases
        header, enters = body.blocks[place.header], body.blocks[place.entry].terminator
        assert isinstance(enters, Jump)
        (back,) = (e for e in successor_edges(body.blocks[place.latch].terminator) if e.block == header.name)
        self.first = _bound(header.parameters, enters.target)
        self.next = _bound(header.parameters, back)
        self.defined = body.scope(place.members).defined

    def rewrite(self) -> dict[str, Operand]:
        """Gives the loop its variables; by the results of the loads what they are now."""
        found: dict[str, Operand] = {}
        for carried in list(self._carried_loads()):
            result = carried.load.results[0]
            begin = Value(self.body.fresh(result.name), result.type)
            first = replace(carried.load, operands=(self._initial_address(carried.load),), results=(begin,))
            self.body.append(self.place.entry, first)
            variable = Value(self.body.fresh(result.name), result.type)
            self.body.add_variable(self.place, variable, begin, carried.following)
            found[result.name] = variable
        return found

    def _carried_loads(self) -> Iterator[_Carried]:
        before: list[Instruction] = []
        facts = self.available.leaving.get(self.place.latch, {})
        for k in unconditional_blocks(self.body.blocks, self.place.header, self.place.members):
            for instruction in self.body.blocks[k].instructions:
                location = self.aliases.location(instruction)
                if location is not None and instruction.results:
                    following = self._carried_value(instruction, location, facts)
                    # What the iteration itself writes before the load would be missed by the variable.
                    if following is not None and not any(self.aliases.may_meet(instruction, i) for i in before):
                        yield _Carried(instruction, following)
                if self.aliases.may_write(instruction):
                    before.append(instruction)

    def _carried_value(self, load: Instruction, location: Location, facts: Facts) -> Operand | None:
        """What is known, at the end of the loop, to be where the load reads in the next iteration."""
        moved = self._translate_address(location.address)
        if moved is None:
            return None
        found = facts.get((Location(moved, location.size), load.results[0].type))
        if found is None or found == load.results[0] or (not self.costs.loads and found in self.loaded):
            return None
        return found

    def _translate_address(self, address: Affine) -> Affine | None:
        """The address one iteration later."""
        form = Affine(address.constant)
        for atom, factor in address.terms:
            if isinstance(atom, Value) and atom.name in self.next:
                form += self.aliases.forms.form(self.next[atom.name]) * factor
            elif isinstance(atom, Value) and atom.name in self.defined:
                return None
            else:
                form += atom_form(atom) * factor
        return form

    def _initial_address(self, load: Instruction) -> Operand:
        """The address of the first iteration, computed in front of the loop."""
        location = self.aliases.location(load)
        assert location is not None
        form = Affine(location.address.constant)
        for atom, factor in location.address.terms:
            # Variables of the loop are what they begin with; all else in the address stays.
            begin = self.first.get(atom.name, atom) if isinstance(atom, Value) else atom
            form += (Affine(begin.value) if isinstance(begin, Constant) else atom_form(begin)) * factor
        made: list[Instruction] = []
        pointer = materialize(form, made, self.body.fresh, self.body.function.address)
        place = self.body.blocks[self.place.entry].terminator.place
        self.body.append(self.place.entry, *(replace(i, place=place) for i in made))
        return pointer


def _bound(parameters: Sequence[Value], edge: Edge) -> dict[str, Operand]:
    return {p.name: a for p, a in zip(parameters, edge.arguments, strict=True)}
