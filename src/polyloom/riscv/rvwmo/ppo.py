# SPDX-License-Identifier: Apache-2.0
"""Preserved program order: the rules that depend on a path alone.

The rules are numbered as in the RISC-V unprivileged manual, chapter "RVWMO", section "Preserved Program Order". Of
thirteen, 1, 2 and 8 order operations on one location as coherence does anyway (`coherence`: what they order has a chain
of coherence, reads-from and from-reads there), and 3 and 12 depend on what is read. The others are here.
"""

from __future__ import annotations

from polyloom.riscv.rvwmo.path import Fence, Operation, Path


def preserved_program_order(path: Path) -> tuple[int, ...]:
    """Preserved program order of a path: for each operation the earlier ones that precede it by rules 4 to 7, 9 to 11
    and 13 of the manual, as bit masks.
    """
    return tuple(
        sum(1 << a for a in range(b) if _explicit_order(path, a, b)) | _dependencies(path.operations, b)
        for b in range(len(path.operations))
    )


def _explicit_order(path: Path, a: int, b: int) -> bool:
    """Rules 4 (a fence orders them), 5 (a acquires), 6 (b releases), 7 (both have RCsc annotations) of the manual."""
    first, second = path.operations[a], path.operations[b]
    return (
        first.acquire
        or second.release
        or (first.strong and second.strong)
        or any(_fence_orders(f, first, second) for f in path.fences if a < f.place <= b)
    )


def _fence_orders(fence: Fence, first: Operation, second: Operation) -> bool:
    # An AMO reads and writes: either set of the fence that names one of both orders it.
    return _in_set(first, fence.before) and _in_set(second, fence.after)


def _in_set(operation: Operation, letters: str) -> bool:
    return (operation.reads and "r" in letters) or (operation.writes and "w" in letters)


def _dependencies(operations: tuple[Operation, ...], b: int) -> int:
    """Rules 9 (address), 10 (data), 11 (control, to a store), 13 (a store behind a dependent address) of the manual."""
    second = operations[b]
    # A load depends on addresses alone; control dependences order stores (rule 11), not loads.
    if not second.writes:
        return second.address
    behind = 0
    for m in operations[:b]:
        behind |= m.address
    return second.address | second.data | second.control | behind
