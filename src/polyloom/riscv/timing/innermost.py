# SPDX-License-Identifier: Apache-2.0
"""Innermost loops of a listing: a branch backwards ends a loop, and one that has no other in it is innermost (natural
loops by back edges, Muchnick 1997, section 7.4).

Only the text of the listing is read, so that this holds for instruction sets with instructions of vendors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

_LINE: Final = re.compile(r"^ *([0-9a-f]+): [0-9a-f]+ +(\S+)(.*)$")
_TARGET: Final = re.compile(r"(-\d+)$")


def list_mnemonics(listing: str) -> Iterator[tuple[int, str]]:
    """Address and mnemonic of each instruction of a listing."""
    yield from ((int(found[1], 16), found[2]) for found in _instruction_lines(listing))


def innermost_loops(listing: str) -> Iterator[list[tuple[int, str]]]:
    """Lines of each innermost loop, with their addresses."""
    lines = [(int(found[1], 16), found[2], found[3], found[0]) for found in _instruction_lines(listing)]
    for loop in _loop_ranges([line[:3] for line in lines]):
        yield [(lines[n][0], lines[n][3]) for n in loop]


def heaviest_loop(listing: str, weight: Callable[[Sequence[str]], Any], least: Any) -> list[tuple[int, str]]:
    """The loop of the greatest weight, the first one of equals; empty where none weighs more than `least`."""
    best: list[tuple[int, str]] = []
    for loop in innermost_loops(listing):
        if (own := weight([text for _, text in loop])) > least:
            best, least = loop, own
    return best


def hottest_loop(listing: str, weights: Mapping[int, int]) -> list[tuple[int, str]]:
    """The loop whose own addresses, outside of loops within it, have the greatest sum of weights, such as cycles; empty
    where no loop has any. Accounts of cycles count a loop in the same way.
    """
    best: list[tuple[int, str]] = []
    least = 0
    for loop in _loop_lines(listing):
        if (own := sum(weights.get(address, 0) for address, _ in loop)) > least:
            best, least = loop, own
    return best


def _loop_lines(listing: str) -> Iterator[list[tuple[int, str]]]:
    """Lines of each loop without those of loops within it."""
    lines = [(int(found[1], 16), found[2], found[3], found[0]) for found in _instruction_lines(listing)]
    loops = _backward_edges([line[:3] for line in lines])
    for loop in loops:
        inner = {n for other in loops if other != loop and _contains_loop(other, loop) for n in other}
        yield [(lines[n][0], lines[n][3]) for n in loop if n not in inner]


def _instruction_lines(listing: str) -> Iterator[re.Match[str]]:
    for line in listing.splitlines():
        if (found := _LINE.match(line)) is not None:
            yield found


def _loop_ranges(code: Sequence[tuple[int, str, str]]) -> Iterator[range]:
    """Line ranges of the loops that have no other in them."""
    ends = _backward_edges(code)
    yield from (loop for loop in ends if not any(other is not loop and _contains_loop(other, loop) for other in ends))


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
