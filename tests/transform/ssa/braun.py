# SPDX-License-Identifier: Apache-2.0
"""A second way to SSA form, as the oracle of construction: Braun et al., "Simple and Efficient Construction of Static
Single Assignment Form" (2013), with all blocks sealed. Minimal and pruned where control flow is reducible; no
dominators, no liveness."""

from __future__ import annotations

from collections import defaultdict

from polyloom.ir.ssa import Block, Function, Value, successor_edges


def parameters(function: Function, variables: set[str]) -> set[tuple[str, str]]:
    """(block, variable) of the parameters that construction needs; every store and alloca is a value of its own."""
    return _Braun(function, variables).run()


class _Braun:
    def __init__(self, function: Function, variables: set[str]) -> None:
        self.function, self.variables = function, variables
        self.predecessors: dict[str, list[str]] = defaultdict(list)
        for block in _reached(function):
            for edge in successor_edges(block.terminator):
                self.predecessors[edge.block].append(block.name)
        self.at_end: dict[tuple[str, str], object] = {}
        self.operands: dict[tuple[str, str], list[object]] = {}  # of a phi, which is (block, variable)
        self.same: dict[object, object] = {}

    def run(self) -> set[tuple[str, str]]:
        loads: list[tuple[str, str]] = []
        for block in _reached(self.function):
            for k, instruction in enumerate(block.instructions):
                if instruction.operation == "fence" or instruction.access is None:
                    continue
                address = instruction.result if instruction.operation == "alloca" else instruction.operands[-1]
                if not isinstance(address, Value) or address.name not in self.variables:
                    continue
                if instruction.operation != "load":
                    self.at_end[block.name, address.name] = (block.name, address.name, k)
                elif (block.name, address.name) not in self.at_end:
                    loads.append((block.name, address.name))
        for block, variable in loads:
            self._entry(block, variable)
        return {phi for phi in self.operands if self._resolved(phi) == phi}

    def _read(self, block: str, variable: str) -> object:
        if (block, variable) not in self.at_end:
            self.at_end[block, variable] = self._entry(block, variable)
        return self._resolved(self.at_end[block, variable])

    def _entry(self, block: str, variable: str) -> object:
        phi = (block, variable)
        if phi in self.operands:
            return self._resolved(phi)
        self.operands[phi] = []
        self.at_end.setdefault(phi, phi)
        self.operands[phi] = [self._read(predecessor, variable) for predecessor in self.predecessors[block]]
        self._simplify()
        return self._resolved(phi)

    def _simplify(self) -> None:
        """A phi whose operands are one value, itself aside, is that value."""
        changed = True
        while changed:
            changed = False
            for phi, operands in self.operands.items():
                others = {self._resolved(operand) for operand in operands} - {phi}
                if self._resolved(phi) == phi and len(others) == 1 and len(operands) == len(self.predecessors[phi[0]]):
                    self.same[phi] = others.pop()
                    changed = True

    def _resolved(self, value: object) -> object:
        while value in self.same:
            value = self.same[value]
        return value


def _reached(function: Function) -> list[Block]:
    blocks = {block.name: block for block in function.blocks}
    found = [function.blocks[0].name]
    for name in found:
        found += dict.fromkeys(
            edge.block for edge in successor_edges(blocks[name].terminator) if edge.block not in found
        )
    return [blocks[name] for name in found]
