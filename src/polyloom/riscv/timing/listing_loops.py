# SPDX-License-Identifier: Apache-2.0
"""Natural loops of a listing: a branch backwards ends a loop (back edges; Muchnick 1997, section 7.4).

Only the text of the listing is read, so that this holds for instruction sets with instructions of vendors.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

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
    lines = [(int(found[1], 16), found[2], found[3], found[0]) for found in _instruction_lines(listing)]
    counted = {address: n for address, n in cycles.items() if n and _line(places, address) in hot}
    loops = [[(lines[n][0], lines[n][3]) for n in own] for own in _own_lines([line[:3] for line in lines])]
    best = max(
        loops, key=lambda loop: sum(counted.get(address, 0) for address, _ in loop), default=list[tuple[int, str]]()
    )
    if any(address in counted for address, _ in best):
        return best
    # Loops of few iterations are unrolled whole.
    return [(address, text) for address, _, _, text in lines if address in counted]


def _line(places: Lines, address: int) -> int:
    """Line as accounts have it, 0 where it is not known."""
    place = places.at(address)
    return 0 if place is None else place.line


def _own_lines(code: Sequence[tuple[int, str, str]]) -> Iterator[list[int]]:
    """Line numbers of each loop without those of loops within it."""
    loops = _backward_edges(code)
    for loop in loops:
        inner = {n for other in loops if other != loop and _contains_loop(other, loop) for n in other}
        yield [n for n in loop if n not in inner]


def _instruction_lines(listing: str) -> Iterator[re.Match[str]]:
    for line in listing.splitlines():
        if (found := _LINE.match(line)) is not None:
            yield found


def _contains_loop(inner: range, outer: range) -> bool:
    return inner.start >= outer.start and inner.stop <= outer.stop


def _backward_edges(code: Sequence[tuple[int, str, str]]) -> list[range]:
    """Line ranges from the goal of each branch backwards to the branch."""
    place = {address: n for n, (address, _, _) in enumerate(code)}
    ends = list[range]()
    for n, (address, mnemonic, operands) in enumerate(code):
        # b..., j, c.b..., c.j: all branches and jumps of the standard mnemonics, and no other instruction with a
        # negative last operand.
        is_branch = mnemonic.removeprefix("c.")[0] in "bj"
        offset = _TARGET.search(operands.split("#")[0].strip()) if is_branch else None
        first = place.get(address + int(offset[1])) if offset is not None else None
        if first is not None:
            ends.append(range(first, n + 1))
    return ends
