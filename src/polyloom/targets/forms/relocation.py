# SPDX-License-Identifier: Apache-2.0
"""Relocation of source places: places of functions in SSA form, changed throughout a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.ir.ssa import Block, Function, Place


def relocate(function: Function, place: Callable[[Place], Place]) -> Function:
    """Function and those that it calls, with other places."""

    def block(of: Block) -> Block:
        made = tuple(replace(i, place=place(i.place)) for i in of.instructions)
        return replace(of, instructions=made, terminator=replace(of.terminator, place=place(of.terminator.place)))

    return replace(
        function,
        blocks=tuple(map(block, function.blocks)),
        others=tuple(relocate(other, place) for other in function.others),
        place=place(function.place),
    )
