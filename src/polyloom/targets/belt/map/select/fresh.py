# SPDX-License-Identifier: Apache-2.0
"""New names of values and blocks of a function, after given ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from polyloom.targets.belt.source.ir import Function
from polyloom.targets.belt.source.ir_verify import defined


def names(function: Function) -> Callable[[str], str]:
    taken = {value.name for block in function.blocks for value in defined(block)}
    taken |= {block.name for block in function.blocks}
    numbers = count(1)

    def fresh(name: str) -> str:
        base = name.rstrip("0123456789").rstrip(".") or name
        while (found := f"{base}.{next(numbers)}") in taken:
            pass
        taken.add(found)
        return found

    return fresh
