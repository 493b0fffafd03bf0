# SPDX-License-Identifier: Apache-2.0
"""The reservation table against counting rows one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from polyloom.modulo.problem import Resource, Use
from polyloom.modulo.table import Table

USES = st.lists(st.builds(Use, st.integers(0, 1), st.integers(0, 9)), max_size=3).map(tuple)


def counted(uses: tuple[Use, ...], row: int, interval: int) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for use in uses:
        for k in range(use.busy):
            cell = use.resource, (row + k) % interval
            found[cell] = found.get(cell, 0) + 1
    return found


@given(st.data(), st.integers(1, 7), st.sampled_from((1, 2, 3, 5)), st.sampled_from((1, 4, None)))
def test_rows_are_free_exactly_where_counting_leaves_room(
    data: st.DataObject, interval: int, first: int, second: int | None
) -> None:
    table = Table(interval, (Resource("a", first), Resource("b", second)))
    limits = (first, second)
    placed: list[tuple[tuple[Use, ...], int]] = []
    for _ in range(data.draw(st.integers(1, 12))):
        if placed and data.draw(st.booleans()):
            uses, row = placed.pop(data.draw(st.integers(0, len(placed) - 1)))
            footprint = table.footprint(uses)
            assert footprint is not None
            table.remove(footprint, row)
        uses = data.draw(USES)
        footprint = table.footprint(uses)
        fits = [_fits(placed, uses, row, interval, limits) for row in range(interval)]
        if footprint is None:
            assert not any(fits)
            continue
        free = table.free(footprint)
        assert [bool(free >> row & 1) for row in range(interval)] == fits
        time = data.draw(st.integers(0, 20))
        at = table.first(free, time)
        assert at == next((t for t in range(time, time + interval) if fits[t % interval]), None)
        if at is not None:
            table.add(footprint, at)
            placed.append((uses, at))


def _fits(
    placed: list[tuple[tuple[Use, ...], int]],
    uses: tuple[Use, ...],
    row: int,
    interval: int,
    limits: tuple[int | None, ...],
) -> bool:
    total: dict[tuple[int, int], int] = {}
    for held, at in [*placed, (uses, row)]:
        for cell, times in counted(held, at, interval).items():
            total[cell] = total.get(cell, 0) + times
    return all((limit := limits[resource]) is None or times <= limit for (resource, _), times in total.items())
