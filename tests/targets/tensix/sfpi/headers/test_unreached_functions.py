# SPDX-License-Identifier: Apache-2.0
"""Functions that clang refuses do not stop a kernel that does not reach them, and stop one that does."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.tensix.source.cpp.source import load_kernel

pytest.importorskip("ziglang", reason="C needs the extra `c`")

HEAD = '#include "ckernel.h"\nusing namespace sfpi;\n'
GOOD = "inline void twice() { dst_reg[0] = dst_reg[0] * 2.0f; }\n"
BAD = (
    "inline void unknown_call_@() { dst_reg[0] = no_such_thing(dst_reg[0]); }\n",
    "void unknown_type_@(vFoo x, int n)\n{\n    dst_reg[0] = x;\n}\n",
    "template <int N> void within_@() { for (int d = 0; d < N; d++) { dst_reg[d] = none_@; } }\n",
    "namespace inner_@ { struct S { void member_@() const { return 1 + ; } int x[2] = {1, 2}; }; }\n",
    "template <class T> T helper_@(T x) { return x.nothing(); }\nvoid instance_@() { helper_@(vFloat(1.0f)); }\n",
    "inline vFloat scalar_@(int k) { return k == 0 ? 1.0f : undeclared_@[k]; }  // a { in a comment\n",
    "__int128 wide_@(__int128 x) { return x; }\n",
    "void assigns_@() { vInt a = vFloat(1.0f); const char *s = \"}\"; dst_reg[0] = a; }\n",
)  # fmt: skip


def kernel(folder: Path, text: str, name: str = "kernel.h") -> str:
    path = folder / name
    path.write_text(HEAD + text)
    return str(path)


def form_text(path: str) -> str:
    """The form without lines, and without what distinguishes names."""
    return re.sub(r"!\d+|(?<=[a-z])\d*(?:\.i\d*)?(?=[:, ])", "", print_ssa(load_kernel(path, "twice").function))


@pytest.mark.parametrize("seed", range(3))
def test_random_functions_that_are_refused_change_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    texts = [text.replace("@", str(n)) for n, text in enumerate(rng.sample(BAD, 5))]
    texts.insert(rng.randrange(6), GOOD)
    assert form_text(kernel(tmp_path, "".join(texts))) == form_text(kernel(tmp_path, GOOD, "good.h"))


def test_a_refused_function_of_an_included_file_is_left_out_in_the_unit_alone(tmp_path: Path) -> None:
    other = kernel(tmp_path, BAD[0].replace("@", ""), "other.h")
    before = Path(other).read_text()
    assert load_kernel(kernel(tmp_path, f'#include "other.h"\n{GOOD}'), "twice").function.blocks
    assert Path(other).read_text() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inline void bad() { missing(); }\ninline void twice() { bad(); }\n", "missing"),
        ("inline void twice() { missing(); }\n", "missing"),
        # Without its head, the call would mean the other function.
        ("void f(vFoo x) {}\nvoid f(vFloat x) { dst_reg[0] = x; }\nvoid twice() { f(dst_reg[0]); }\n", "vFoo"),
        ("void f(vFloat x) { missing(); }\nvoid f(vInt x) { }\nvoid twice() { f(dst_reg[0]); }\n", "missing"),
        ("constexpr int bad() { return missing; }\nvoid twice() { dst_reg[bad()] = 1.0f; }\n", "missing"),
        ("int global = missing;\nvoid twice() { dst_reg[0] = 1.0f; }\n", "missing"),
    ],
)
def test_what_the_function_needs_is_still_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(PolyloomError, match=message):
        load_kernel(kernel(tmp_path, text), "twice")
