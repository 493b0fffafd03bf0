# SPDX-License-Identifier: Apache-2.0
"""Redundant load elimination, store forwarding: a load gives what was stored or loaded there before, on every path and
with nothing in between that may change it (`analysis.available_values`)."""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.aliases import Aliases
from polyloom.analysis.available_values import AvailableValues
from polyloom.ir.ssa import Function, Operand, Value
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable, with_operands


@on_each_function
def forward_loads(function: Function, outside: bool = False) -> Function:
    """Redundant load elimination and store-to-load forwarding (Muchnick 1997, section 13.1 for expressions, here of
    memory): the function without loads whose values are known; `outside` as for `Aliases`.
    """
    function = remove_unreachable(function)
    available = AvailableValues(function, Aliases(function, outside))
    known: dict[str, Operand] = {}
    for k, block in enumerate(function.blocks):
        facts = available.facts_at_entry(k)
        for instruction in block.instructions:
            value = available.known_value(facts, instruction)
            # A load makes its own value available, which is no news.
            if value is not None and value != instruction.results[0]:
                known[instruction.results[0].name] = value
            available.apply(facts, instruction)
    if not known:
        return function

    def operand(old: Operand) -> Operand:
        # A chain: what a load is known to give may be a load that is known itself.
        while isinstance(old, Value) and old.name in known:
            old = known[old.name]
        return old

    blocks = tuple(
        replace(b, instructions=tuple(i for i in b.instructions if not (i.results and i.results[0].name in known)))
        for b in function.blocks
    )
    return replace(function, blocks=tuple(with_operands(block, operand) for block in blocks))
