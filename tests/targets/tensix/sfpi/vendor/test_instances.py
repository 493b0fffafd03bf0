# SPDX-License-Identifier: Apache-2.0
"""The list of `make kernels`, which needs a download that continuous integration does not make."""

from __future__ import annotations

from tests.targets.tensix.sfpi.vendor.instances import LIST, MACROS, MARKS, Instance, instances
from tests.targets.tensix.sfpi.vendor.wheel import FOLDERS

ALL = list(instances(LIST.read_text(encoding="utf-8")))


def test_a_line_is_an_instance() -> None:
    text = "pure metal recip\n    f<8>(1) | g() | 32 | -D NAME\n    - h() : PL1280 why, line 3\n"
    assert list(instances(text)) == [
        Instance("pure", "metal", "recip", "f<8>(1)", "g()", 32, "NAME"),
        Instance("pure", "metal", "recip", "h()", fails="PL1280 why, line 3"),
    ]


def test_all_headers_with_vector_kernels_are_there() -> None:
    """96 in the vector language alone, 14 with raw words."""
    headers = {(i.kind, i.group, i.header) for i in ALL}
    assert sum(kind == "pure" for kind, *_ in headers) == 96
    assert sum(kind == "mixed" for kind, *_ in headers) == 14
    assert {i.group for i in ALL} == set(FOLDERS)


def test_enough_of_them_run() -> None:
    failing = {(i.kind, i.group, i.header) for i in ALL if i.fails}
    assert sum(kind == "pure" for kind, *_ in failing) <= 1
    assert sum(kind == "mixed" for kind, *_ in failing) == 0
    assert all(i.fails is None or i.fails.startswith("PL") for i in ALL)


def test_the_headers_with_macros_all_run_both_ways() -> None:
    """13: those that use SFPLOADMACRO, or SFPCONFIG beside it."""
    macros = list(instances(MACROS.read_text(encoding="utf-8")))
    assert len({i.header for i in macros}) == 13
    assert not any(i.fails for i in macros)
    assert {mark for i in macros for mark in i.marks} == MARKS
