# SPDX-License-Identifier: Apache-2.0
"""Functions as programmers of the tile write them: each compiles, equals the interpreter on the model, and has no more
words than stand here, without what is recorded for cycles."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from tests.targets.tensix.sfpi.passes.bench import agree, plain, run

from polyloom.targets.tensix.source.allocate.words import Word
from polyloom.targets.tensix.source.cpp.source import Functions, load_functions
from polyloom.targets.tensix.source.lower.compile import Options, lower

pytest.importorskip("ziglang", reason="C++ needs the extra `c`")

HERE: Final = Path(__file__).parent
WORDS: Final = {
    "bands": 23, "nested_three": 14, "nested_then_more": 11, "nested_else": 19, "nested_pairs": 17, "nested_and": 17,
    "nested_or": 15, "sign_of": 11, "clamp_chain": 15, "three_way": 16, "count_tests": 16, "test_sum": 17,
    "test_equal": 14, "test_differs": 14, "test_scaled": 9, "levels": 16, "level_tests": 11, "scoped_signs": 8,
    "early_return": 6, "early_break": 11, "early_continue": 10, "quarters": 5, "six_deep": 26,
    "predicate_called": 6, "chain_of_compares": 20, "leading_zeros": 5, "literal_left": 13, "sum_in_place": 6,
    "sum_elsewhere": 7, "tested_twice": 7, "unsigned_truth": 5,
}  # fmt: skip
ARGUMENTS: Final = {"early_return": 1, "early_break": 7, "early_continue": 5}


@pytest.fixture(scope="module")
def functions() -> Functions:
    return load_functions(str(HERE / "strangers.h"), tuple(WORDS))


@pytest.mark.parametrize("name", WORDS)
def test_strangers(name: str, functions: Functions) -> None:
    function = functions.functions[list(WORDS).index(name)]
    arguments = [ARGUMENTS[name]] if name in ARGUMENTS else []
    agree(run(function, plain(1), arguments))
    listing = lower(function, Options(without=frozenset({"replay"}))).listing
    words = sum(isinstance(line, Word) for lines in listing.lines for line in lines)
    assert words <= WORDS[name]
