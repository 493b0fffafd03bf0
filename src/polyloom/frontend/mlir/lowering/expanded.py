# SPDX-License-Identifier: Apache-2.0
"""Functions of the dialect math as the operations of their formulas (`expanded_functions.py`)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE
from polyloom.frontend.mlir.expanded_functions import EXPANDED, Call, Formula, X
from polyloom.frontend.mlir.lowering.scalars import Scalars
from polyloom.frontend.mlir.lowering.values import Number


class FunctionExpansion(Scalars):
    """Functions that formulas stand for."""

    def expand_function(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """A function of one number. Raises PL0172 for types of which its operations have no form."""
        at = self.span(operation)
        known = dict[Formula, Number]({X: self.hold(values[0], "t", at)})

        def value(formula: Formula) -> Number:
            found = known.get(formula)
            if found is None:
                # Each part is computed once, however often the formula has it.
                found = known[formula] = self.hold(compute(formula), "t", at)
            return found

        def compute(formula: Formula) -> Number:
            if not isinstance(formula, Call):
                dtype = self.number_data(known[X], operation, written)[1]
                return Number(dtype, make.constant(formula or 0.0, CTYPE[dtype], at))
            return choose(formula) if formula.opcode == "choose" else apply(formula)

        def apply(call: Call) -> Number:
            return self.apply(call.opcode, "", [value(operand) for operand in call.operands], operation, written)

        def choose(call: Call) -> Number:
            test, *sides = call.operands
            assert isinstance(test, Call)
            compared = [value(operand) for operand in test.operands]
            truth = self.truth_operand(self.compare(test.opcode, "", compared, operation, written), operation)
            chosen = [value(side) for side in sides]
            (a, dtype), (b, _) = (self.number_data(each, operation, written) for each in chosen)
            reads = frozenset[str]().union(*(each.reads for each in (*compared, *chosen)))
            return Number(dtype, Node("choose", at, a.ctype, (truth, a, b)), reads=reads)

        return compute(EXPANDED[name])
