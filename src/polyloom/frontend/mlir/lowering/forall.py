# SPDX-License-Identifier: Apache-2.0
"""`scf.forall`, parallel loops whose turns store into parts of shared tensors, and `scf.index_switch` (MLIR language
reference, dialect scf).
"""

from __future__ import annotations

from typing import Any

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import INTEGER
from polyloom.frontend.mlir.lowering.control import Control
from polyloom.frontend.mlir.lowering.values import integer


class Forall(Control):
    """Loops over tiles."""

    def lower_forall(self, operation: Any) -> None:
        """scf.forall: loops, the first outermost. Turns share the arrays, of which each writes its own part: a part
        that two of them write, or one writes and another reads, has no meaning in MLIR."""
        names = ("staticLowerBound", "staticUpperBound", "staticStep")
        groups = (operation.lower, operation.upper, operation.step)
        lower, upper, steps = (self.mixed_integers(operation, n, g) for n, g in zip(names, groups, strict=True))
        by = [self.constant_step(step, operation) for step in steps]
        block = operation.region.block
        shared = block.args[len(by) :]
        self.flush(self.written_roots(operation), operation)
        cells = [self.carry_value(a, i, operation) for a, i in zip(shared, operation.outputs, strict=True)]

        def body() -> None:
            self.frame.values |= dict(zip(shared, cells, strict=True))
            self.run_block(block)

        self.nested_loops(operation, lower, upper, by, block, body)
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def switch(self, operation: Any) -> None:
        """scf.index_switch: branches one behind the other, the default last."""
        at = self.span(operation)
        chosen = self.integer_operand(operation.arg, operation)
        self.flush(self.written_roots(operation), operation)
        cells = [self.result_cell(result, operation) for result in operation.results]
        last = self.side(operation.default_region.block, cells, at)
        numbers = list(operation.properties["cases"].get_values())
        for number, region in reversed([*zip(numbers, operation.case_regions, strict=True)]):
            test = make.binary_operation("==", (chosen, integer(int(number), at)), INTEGER, at)
            body = self.side(region.block, cells, at)
            last = Node("block", at, "", (Node("if", at, "", (test, body, last)),))
        self.statements += last.inner
        self.frame.values |= dict(zip(operation.results, cells, strict=True))

    def in_parallel(self, operation: Any) -> None:
        """scf.forall.in_parallel: its operations, behind everything else of the turn."""
        self.run_block(operation.region.block)

    def parallel_insert_slice(self, operation: Any) -> None:
        """tensor.parallel_insert_slice: a copy into a part of the shared array."""
        made = self.view(operation.dest)
        part = self.slice_view(made, operation, 2, operation.source.type)
        source = self.view(operation.source)
        self.flush(frozenset({made.identity}), operation, exempt=True)
        self.copy_elements(source, part, self.span(operation))
