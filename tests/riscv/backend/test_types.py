# SPDX-License-Identifier: Apache-2.0
"""The integer types of a signature are those of the target's C: widths and signs by the tables of the RISC-V calling
convention.

What is expected is computed here in Python, so that two sides that are wrong in the same way do not agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.in_turns import in_turns
from tests.riscv.backend.running import run

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

TYPES: Final = {
    **{
        name: (bits, bits)
        for bits in (8, 16, 32, 64)
        for name in (f"int{bits}_t", f"uint{bits}_t", f"int_least{bits}_t", f"uint_least{bits}_t")
    },
    **{
        name: (bits, bits)
        for name, bits in {"int_fast8_t": 8, "uint_fast8_t": 8, "int_fast64_t": 64, "uint_fast64_t": 64}.items()
    },
    **dict.fromkeys(("int_fast16_t", "uint_fast16_t", "int_fast32_t", "uint_fast32_t"), (32, 32)),
    **dict.fromkeys(
        ("size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "long", "unsigned long", "my_word", "my_size"), (32, 64)
    ),
    **dict.fromkeys(("intmax_t", "uintmax_t", "long long", "unsigned long long", "my_wide"), (64, 64)),
    **{
        name: (bits, bits)
        for name, bits in {
            "char": 8,
            "unsigned char": 8,
            "short": 16,
            "unsigned short": 16,
            "int": 32,
            "unsigned": 32,
        }.items()
    },
    "enum signed_enum": (32, 32),
    "my_enum": (32, 32),
    "enum packed_enum": (8, 8),
    "enum wide_enum": (64, 64),
    "wchar_t": (32, 32),
}
"""By name: bits on RV32 (ilp32) and on RV64 (lp64), of psABI and musl's headers."""
UNSIGNED: Final = ("u", "size_t", "my_size", "my_wide", "my_enum", "enum packed_enum")
HEADER: Final = """#include <stddef.h>
#include <stdint.h>
typedef long my_word;
typedef size_t my_size_0;
typedef const my_size_0 my_size;
typedef uint64_t my_wide;
enum signed_enum { NEGATIVE = -1, POSITIVE = 5 };
typedef enum { FIRST, SECOND = 0xffffffffu } my_enum;
enum __attribute__((packed)) packed_enum { SMALL, SMALLER };
enum wide_enum { LEAST = -1, MOST = 0x7fffffffffffffff };
"""
MEMBERS: Final = {32: "riscv:rv32imac", 64: "riscv:rv64gc"}


def dtype(type: str, xlen: int) -> np.dtype[Any]:
    return np.dtype(f"{'u' if type.startswith(UNSIGNED) else 'i'}{TYPES[type][xlen == 64] // 8}")


def wrapped(value: int, dtype: np.dtype[Any]) -> int:
    return int(np.array(value % (1 << 8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype))


def text(types: Sequence[str], result: str) -> str:
    """Every type as a parameter, as an array's element and as that of a structure's field."""
    fields = "".join(f" {t.removeprefix('const ')} f{k}, g{k}[2];" for k, t in enumerate(types) if t != "my_size")
    parameters = ", ".join(f"{t} p{k}, {'my_size_0' if t == 'my_size' else t} a{k}[3]" for k, t in enumerate(types))
    sums = "".join(f" a{k}[2] = a{k}[0] + p{k}; a{k}[1]++;" for k in range(len(types)))
    copies = "".join(f" s[1].f{k} = p{k}; s[1].g{k}[1] = s[0].f{k};" for k, t in enumerate(types) if t != "my_size")
    declared = f"struct all {{ char first;{fields} }};\n"
    total = " + ".join(f"(uint64_t)p{k}" for k in range(len(types)))
    return f"{HEADER}{declared}{result} f(struct all s[2], {parameters}) {{{sums}{copies} return {total}; }}\n"


def check(folder: Path, types: Sequence[str], result: str, xlen: int, seed: int) -> None:
    path = folder / "f.c"
    path.write_text(text(types, result), encoding="utf-8")
    random = np.random.default_rng(seed)
    forms = [dtype(t, xlen) for t in types]
    limits = [(int(np.iinfo(form).min), int(np.iinfo(form).max)) for form in forms]
    scalars = [(low, high, high // 3)[random.integers(3)] for low, high in limits]
    arrays = {
        f"a{k}": np.array([edges[n] for n in random.integers(0, 2, 3)], form)
        for k, (form, edges) in enumerate(zip(forms, limits, strict=True))
    }
    given = {f"p{k}": str(n) for k, n in enumerate(scalars)}
    found = run(str(path), MEMBERS[xlen], Options(), given, arrays, seed)
    assert found.data["verified"], found.differences
    outputs: dict[str, Any] = dict(found.outputs)
    assert found.data["compared_with"] == ["interpreter", "host"]
    assert outputs["return"].dtype == dtype(result, xlen)
    assert outputs["return"] == wrapped(sum(scalars), dtype(result, xlen))
    for k, (form, passed) in enumerate(zip(forms, scalars, strict=True)):
        before, after = arrays[f"a{k}"].tolist(), outputs[f"a{k}"]
        assert after.dtype == form, types[k]
        assert after.tolist() == [before[0], wrapped(before[1] + 1, form), wrapped(before[0] + passed, form)], types[k]
        if types[k] != "my_size":
            fields = outputs["s"].dtype.fields
            assert fields is not None
            assert fields[f"f{k}"][0] == form
            assert outputs["s"][f"f{k}"][1] == passed


@pytest.mark.parametrize(("xlen", "first"), in_turns([32, 64], range(0, len(TYPES), 12), 2))
def test_every_type_is_the_targets(xlen: int, first: int, tmp_path: Path) -> None:
    """In parameters, arrays and structures: as many at once as the test of one needs time."""
    names = list(TYPES)
    check(tmp_path, names[first : first + 12], names[first], xlen, first)


@pytest.mark.parametrize("xlen", [32, pytest.param(64, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "result",
    ["uint64_t", "int64_t", "intmax_t", "my_wide", "size_t", "long", "int_fast16_t", "enum wide_enum", "uint8_t"],
)
def test_results_are_the_targets(result: str, xlen: int, tmp_path: Path) -> None:
    check(tmp_path, ["uint64_t", "int64_t", result], result, xlen, 7)


@settings(max_examples=3)
@given(
    st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=9),
    st.sampled_from(sorted(TYPES)),
    st.sampled_from([32, 64]),
    st.integers(0, 999),
)
def test_random_signatures(
    tmp_path_factory: pytest.TempPathFactory, types: list[str], result: str, xlen: int, seed: int
) -> None:
    check(tmp_path_factory.mktemp("c"), types, result, xlen, seed)


@pytest.mark.parametrize(("xlen", "size", "offset"), [(32, 13, 9), (64, 21, 13)])
def test_packed_structures_have_the_layout_that_clang_gives(xlen: int, size: int, offset: int, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "struct __attribute__((packed)) s { char a; int b; long c[2]; };\nvoid f(struct s p[2]) { p[1].c[1] = p[0].b; "
        "}\n",
        encoding="utf-8",
    )
    form = run(str(path), MEMBERS[xlen], Options(), {}, {}, 0).outputs["p"].dtype
    assert form.itemsize == size
    assert form.fields is not None
    assert form.fields["c"][1] + xlen // 8 == offset


def test_the_text_itself_may_ask_for_the_target(tmp_path: Path) -> None:
    """The host's function is the one that the target compiles, not what the host's macros choose."""
    path = tmp_path / "f.c"
    path.write_text(
        "#if __riscv_xlen == 32\ntypedef int word;\n#elif __riscv_xlen\ntypedef long word;\n#endif\nword f(word a) { "
        "return a * a + sizeof a; }\n"
    )
    for xlen, (a, expected) in product((32, 64), [(70000, 4900000000)]):
        found = run(str(path), MEMBERS[xlen], Options(), {"a": str(a)}, {}, 0)
        assert found.data["verified"]
        assert int(found.outputs["return"]) == wrapped(expected + xlen // 8, np.dtype(f"i{xlen // 8}"))


def test_a_width_that_disagrees_with_the_code_is_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it was where the host's typedefs decided: the wrong declaration cut the results of both sides alike."""
    path = tmp_path / "f.c"
    path.write_text(
        "unsigned long long f(int a) { return 1ull << a; }\nvoid g(unsigned long long a, int b[1]) { b[0] = a; }\n",
        encoding="utf-8",
    )
    monkeypatch.setitem(vars(import_module("polyloom.frontend.c.prototype"))["_TYPES"], "unsigned long long", "u4")
    with pytest.raises(PolyloomError, match="the result is declared as uint32, and the code returns i64"):
        run(str(path), "riscv:rv32imac", Options(function="f"), {"a": "33"}, {}, 0)
    with pytest.raises(PolyloomError, match="the parameter `a` is declared as uint32, and the code takes i64"):
        run(str(path), "riscv:rv32imac", Options(function="g"), {}, {}, 0)
