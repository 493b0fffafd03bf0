# SPDX-License-Identifier: Apache-2.0
"""Natural loops of a listing: a branch backwards ends a loop (back edges; Muchnick 1997, section 7.4).

Only the text of the listing is read, so that this holds for instruction sets with instructions of vendors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from polyloom.ir.ssa import NOWHERE
from polyloom.riscv.source_lines import Lines

_LINE: Final = re.compile(r"^ *([0-9a-f]+): [0-9a-f]+ +(\S+)(.*)$")
_TARGET: Final = re.compile(r"(-\d+)$")
Code = list[tuple[int, str]]
"""Lines of a listing with their addresses."""


def list_mnemonics(listing: str) -> Iterator[tuple[int, str]]:
    """Address and mnemonic of each instruction of a listing."""
    yield from ((int(found[1], 16), found[2]) for found in _instruction_lines(listing))


def hottest_loop(listing: str, cycles: Mapping[int, int], places: Lines, hot: Collection[int]) -> Code:
    """Machine's code of a source loop whose lines are `hot`: of the loops of the listing the one whose own addresses,
    outside of loops within it, have the most cycles on these lines; without such a loop, all code of them that ran.
    """
    lines = list(_instruction_lines(listing))
    code = [(int(line[1], 16), line[0]) for line in lines]
    counted = {address: n for address, n in cycles.items() if n and (places.at(address) or NOWHERE).line in hot}
    # What inner loops do is theirs, so that the cycles of a loop are those of its source loop.
    loops = [[code[n] for n in own] for own in _own_lines(lines)]
    best = max(loops, key=lambda loop: sum(counted.get(address, 0) for address, _ in loop), default=Code())
    if any(address in counted for address, _ in best):
        return best
    # Loops of few iterations are written out whole.
    return [line for line in code if line[0] in counted]


def _own_lines(lines: Sequence[re.Match[str]]) -> Iterator[list[int]]:
    """Line numbers of each loop without those of loops within it."""
    loops = _backward_edges(lines)
    for loop in loops:
        inner = {n for other in loops if other != loop and _contains_loop(other, loop) for n in other}
        yield [n for n in loop if n not in inner]


def _instruction_lines(listing: str) -> Iterator[re.Match[str]]:
    for line in listing.splitlines():
        if (found := _LINE.match(line)) is not None:
            yield found


def _contains_loop(inner: range, outer: range) -> bool:
    return inner.start >= outer.start and inner.stop <= outer.stop


def _backward_edges(lines: Sequence[re.Match[str]]) -> list[range]:
    """Line ranges from the goal of each branch backwards to the branch."""
    place = {int(line[1], 16): n for n, line in enumerate(lines)}
    ends = list[range]()
    for n, line in enumerate(lines):
        # b..., j, c.b..., c.j: all branches and jumps of the standard mnemonics, and no other instruction with a
        # negative last operand.
        is_branch = line[2].removeprefix("c.")[0] in "bj"
        offset = _TARGET.search(line[3].split("#")[0].strip()) if is_branch else None
        first = place.get(int(line[1], 16) + int(offset[1])) if offset is not None else None
        if first is not None:
            ends.append(range(first, n + 1))
    return ends
