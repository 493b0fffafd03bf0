# SPDX-License-Identifier: Apache-2.0
"""Arrays that phases overwrite: nobody reads copies in caches of what tensor units have changed since, and no factor is
overwritten while others read it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.in_turns import in_turns

import polyloom as pl

HEAD = "import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\ndef f({}) -> None:\n"


def multiply(to: str, left: str, right: str, *, begin: str = "0.0") -> str:
    """A product of square matrices."""
    lines = ["for i in range(N):", "    for j in range(N):", f"        {to}[i, j] = {begin}"]
    lines += ["        for k in range(N):", f"            {to}[i, j] += {left}[i, k] * {right}[k, j]"]
    return "".join(f"    {line}\n" for line in lines)


def each(statement: str) -> str:
    return f"    for i in range(N):\n        for j in range(N):\n            {statement}\n"


FUNCTIONS = {
    "a factor is made anew": ("ABEFGH", multiply("E", "A", "B") + multiply("A", "E", "F") + multiply("G", "A", "H")),
    "the right factor is made anew": (
        "ABEFG",
        multiply("E", "B", "A") + multiply("A", "E", "F") + multiply("G", "B", "A"),
    ),
    "loops read, a product writes, loops read": (
        "ABCEG",
        each("G[i, j] = C[i, j] * B[N - 1 - i, j]") + multiply("C", "A", "G") + each("E[i, j] = C[N - 1 - i, j] * 2.0"),
    ),
    "a sum begins with its result": (
        "ABCE",
        multiply("C", "A", "B", begin="C[i, j] * 3.0") + each("E[i, j] = C[N - 1 - i, j] + 1.0"),
    ),
    "a sum begins with an array that changes": (
        "ABCDE",
        multiply("D", "A", "B", begin="C[i, j]") + multiply("C", "A", "D") + each("E[i, j] = C[N - 1 - i, j] + 1.0"),
    ),
    "in place": ("ABE", multiply("E", "A", "B") + each("A[i, j] = E[i, j]") + each("B[i, j] = A[N - 1 - i, j] * 0.5")),
}


@pytest.mark.parametrize(("name", "minions"), in_turns(tuple(FUNCTIONS), [1, 3, 16, 64], 2))
def test_nobody_reads_old_copies(name: str, minions: int, tmp_path: Path) -> None:
    arrays, body = FUNCTIONS[name]
    path = tmp_path / "f.py"
    path.write_text(HEAD.format(", ".join(f"{array}: pl.f32[N, N]" for array in arrays)) + body)
    result = pl.compile(str(path), on=f"minion:{minions}").run(N=40)
    assert result.verified
    assert result.data["hazards"] == []
    assert "product" in str(result.data["phases"])
