# SPDX-License-Identifier: Apache-2.0
"""Random functions of jumps, `switch`, `do`, walking pointers, carried indices and integers of 64 bits, natively and as
a nest.

What is refused says so by a code, and most are not; what is accepted computes what C computes, at every size.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import INPUT, PolyloomError
from polyloom.frontend import c
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FUNCTIONS, SIZES = 8, (1, 2, 3, 6, 7)
SCALARS = ("a", "b", "A[40 + i]", "B[41 + i]", "i")


def function(seed: int) -> str:
    random = Random(seed)
    body = "\n".join(f"  {line}" for line in _body(random))
    head = f"int f{seed}(unsigned n, int A[120], int B[120], short C[120]) {{\n  __builtin_assume(n <= 9);"
    start = "  int a = 1, b = -2, last = 3, i;\n  long long w = 5, v = -7;\n  unsigned long long u = 9;\n  A[0] = n;"
    end = "  A[1] = w >> 3; B[1] = v; B[2] = u >> 32; A[2] = w; A[3] = u;\n  return a + b;"
    return f"{head}\n{start}\n{body}\n{end}\n}}\n"


def _body(random: Random) -> Iterator[str]:
    for n in range(random.randint(2, 3)):
        inside = "\n    ".join(_statements(random, n, 3))
        kind = random.choice(["for", "for", "down", "do", "pointer", "unrolled", "carried"])
        if kind == "for":
            yield f"for (i = 0; i < (int)n{random.choice(['', ' / 2', ' + 2'])}; i++) {{\n    {inside}\n  }}"
        elif kind == "down":
            yield f"unsigned count{n} = n; i = 0;\n  while (count{n} > 0U) {{\n    {inside}\n    i++; count{n}--;\n  }}"
        elif kind == "do":
            yield f"i = 0;\n  do {{\n    {inside}\n  }} while (++i < {random.choice(['(int)n', '5', '(int)n + 1'])});"
        elif kind == "pointer":
            walk = f"*q{n}++ = *p{n} + a; p{n} += {random.choice(['1', '2', '3'])};"
            yield f"int *p{n} = A + {random.randint(4, 9)}, *q{n} = &B[{random.randint(4, 9)}];"
            yield f"for (i = 0; i < (int)n; i++) {{ {walk}\n    {inside}\n  }}"
            yield f"*q{n} = p{n}[1] - 1;"
        elif kind == "unrolled":
            store = random.choice(["a += A[40 + i];", "B[50 + i] ^= a;", "w += C[40 + i];"])
            yield f"i = 0;\n  unsigned four{n} = n >> 2;"
            yield f"while (four{n} > 0) {{ {' i++; '.join([store] * 4)} i++; four{n}--; }}"
            yield f"four{n} = n & 3;\n  while (four{n}) {{ {store} i++; four{n}--; }}"
        else:
            yield f"last = {random.randint(0, 5)};\n  for (i = 0; i < (int)n; i++) {{\n    A[60 + i] += B[40 + last];"
            yield f"  {inside}\n    last = i + {random.randint(0, 2)};\n  }}"


def _statements(random: Random, number: int, most: int) -> Iterator[str]:
    for k in range(random.randint(1, most)):
        kind = random.choice(["store", "wide", "wide", "goto", "switch"])
        label = f"l{number}_{k}_{random.randint(0, 10**9)}"
        if kind == "store":
            yield _store(random)
        elif kind == "wide":
            yield _wide(random)
        elif kind == "goto":
            yield f"if ({_test(random)}) goto {label};"
            if random.random() < 0.5:
                yield f"if ({_test(random)}) {{ {_store(random)} goto {label}b; }}"
                yield f"{_wide(random)} {label}b: {_store(random)}"
            yield f"{_store(random)} {label}: {_store(random)}"
        else:
            cases = [f"case {c}: {_store(random)} {random.choice(['break;', ''])}" for c in (0, 1, 3)]
            default = random.choice(["", f"default: {_wide(random)} break;"])
            yield f"switch ({random.choice(['a & 3', 'A[40 + i] & 3', 'b'])}) {{ {' '.join(cases)} {default} }}"


def _store(random: Random) -> str:
    value = f"{random.choice(SCALARS)} {random.choice('+-*^&')} {random.choice(SCALARS)}"
    to = random.choice(["a", "b", "A[40 + i]", "B[42 + i]", "C[40 + i]"])
    return f"{to} {random.choice(['=', '+=', '^='])} {value};"


def _test(random: Random) -> str:
    other = random.choice(["v", "(long long)a << 20", "3"])
    wide = f"{random.choice('wv')} {random.choice(['<', '>=', '==', '!='])} {other}"
    scalar = f"{random.choice(SCALARS)} {random.choice(['<', '>', '=='])} {random.choice([*SCALARS, '2'])}"
    return random.choice([scalar, scalar, wide, "i < 2", f"u > {random.randint(0, 1 << 40)}u"])


def _wide(random: Random) -> str:
    part = random.choice(["a", "b", "A[40 + i]", "C[41 + i]", "(unsigned)a", "w", "v", "u", "5"])
    product = f"(long long){random.choice(['a', 'A[40 + i]', 'C[40 + i]'])} * {random.choice(['b', 'C[42 + i]', 'w'])}"
    shift = random.choice([0, 1, 15, 31, 32, 33, 47, 63])
    return random.choice(
        [
            f"w += {product};",
            f"v = ({product}) >> {shift};",
            f"u += (unsigned long long){part} << {shift};",
            f"w {random.choice(['-=', '^=', '|=', '&=', '*='])} {part};",
            f"v = w > v ? {product} : -v;",
            f"a = (int)((w + {part}) >> {shift});",
            f"u >>= a & {random.choice([7, 63])};",
            "w <<= b & 31;",
            "if (w > 2147483647LL) w = 2147483647LL; else if (w < -2147483648LL) w = -2147483648LL;",
            "b = (short)(v >> 16) + (w != u) + !v;",
            "v++; w = ~w;",
        ]
    )


def test_random_functions_equal_their_nests(tmp_path: Path) -> None:
    path = tmp_path / "random.c"
    path.write_text("\n".join(function(seed) for seed in range(FUNCTIONS)), encoding="utf-8")
    accepted = sum(assert_equal(path, f"f{seed}", seed) for seed in range(FUNCTIONS))
    assert accepted >= FUNCTIONS * 0.9


def assert_equal(path: Path, name: str, seed: int) -> bool:
    """Whether the function is accepted, and then computes what the nest does."""
    try:
        nest, reference = c.load(str(path), Options(function=name))
        nest = check_with_least_sizes(nest)
    except PolyloomError as error:
        assert error.exit_code == INPUT, str(error)
        return False
    generator = np.random.default_rng(seed)
    for size in SIZES:
        parameters = dict.fromkeys(nest.parameters, size)
        given = arguments(nest, parameters, seed)
        inputs = {
            n: np.asarray(generator.integers(-(1 << 31), 1 << 31, a.shape) >> generator.integers(0, 30)).astype(a.dtype)
            for n, a in given.items()
        }
        assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))
    return True
