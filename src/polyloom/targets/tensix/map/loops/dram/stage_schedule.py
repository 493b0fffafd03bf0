# SPDX-License-Identifier: Apache-2.0
"""Order of stages in which fewer bytes live, for programs that L1 does not hold in the order of the source: list
scheduling that takes a stage as soon as it frees more than it makes (register-sensitive scheduling; Goodman, Hsu 1988).

    p0 p1 ... p15, s0 = p0 + p1 + p2 + p3, s1 = s0 + p4 + p5 + p6, ...      16 products live
    p0 p1 p2 p3 s0 p4 p5 p6 s1 ...                                           4

Each stage computes an array of its own from arrays, so that every order of dependences gives the same bits.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from polyloom.targets.tensix.map.loops.fused.plan import Stage


def schedule_stages(stages: Sequence[Stage], kept: Collection[str]) -> list[Stage]:
    """Stages in such an order; `kept` results stay until the end."""
    # Keys are large: numbers are compared in their place.
    results = {stage.result.key: number for number, stage in enumerate(stages)}
    operands = [{results[area.key] for area in stage.reads if area.key in results} for stage in stages]
    sizes = [stage.result.placed.size for stage in stages]
    readers = [{n for n, each in enumerate(operands) if made in each} for made in range(len(stages))]
    stays = [stage.result.placed.matrix.array in kept for stage in stages]
    waiting, done = [*range(len(stages))], set[int]()

    def frees(number: int) -> bool:
        last = (made for made in operands[number] if not stays[made] and readers[made] <= {number, *done})
        return operands[number] <= done and sum(sizes[made] for made in last) > sizes[number]

    order = list[int]()
    while waiting:
        # The first one that waits is ready: the order of the source is one of dependences.
        number = next((n for n in waiting if frees(n)), waiting[0])
        waiting.remove(number)
        done.add(number)
        order.append(number)
    return [stages[number] for number in order]
