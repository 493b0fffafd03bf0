# SPDX-License-Identifier: Apache-2.0
"""Random linear algebra: products of arguments and of earlier results, as they are and transposed, begun with a value,
scaled, and with an element-wise end; random sizes and formats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import polyloom as pl
from polyloom.diagnostics import PolyloomError

SIZES = "NMKL"


@dataclass(frozen=True)
class Drawn:
    """A matrix with its dimensions."""

    name: str
    dims: str


def factor(draw: st.DrawFn, known: list[Drawn], dims: str, loops: str, number: str) -> tuple[str, list[Drawn]]:
    """`X[i, k]` of a matrix that has these dimensions in any order, or of a new argument."""
    fitting = [m for m in known if m.dims in (dims, dims[::-1])]
    made = draw(st.sampled_from([*fitting, None]))
    found = made or Drawn(f"A{number}", draw(st.sampled_from([dims, dims[::-1]])))
    index = ", ".join(loops if found.dims == dims else loops[::-1])
    return f"{found.name}[{index}]", [] if made else [found]


@st.composite
def programs(draw: st.DrawFn) -> str:
    arguments, results, lines = list[Drawn](), list[Drawn](), list[str]()
    for step in range(draw(st.integers(1, 3))):
        rows, over, columns = draw(st.permutations(SIZES))[:3]
        left, new = factor(draw, [*arguments, *results], rows + over, "ik", f"{step}l")
        arguments += new
        right, new = factor(draw, [*arguments, *results], over + columns, "kj", f"{step}r")
        arguments += new
        result = Drawn(f"R{step}", rows + columns)
        begin = draw(st.sampled_from(["0.0", "b * {0}", "{0}", "v{1}[j]"]))
        if "v" in begin:
            arguments.append(Drawn(f"v{step}", columns))
        target = f"{result.name}[i, j]"
        scale = draw(st.sampled_from(["", "a * ", "-"]))
        lines += [f"    for i in range({rows}):", f"        for j in range({columns}):"]
        lines += [f"            {target} = {begin.format(target, step)}", f"            for k in range({over}):"]
        lines += [f"                {target} += {scale}{left} * {right}"]
        end = draw(st.sampled_from(["", "max({0}, 0.0)", "{0} * 0.5 + b"]))
        lines += [f"            {target} = {end.format(target)}"] if end else []
        results.append(result)
    given_ = ", ".join(f"{m.name}: pl.f32[{', '.join(m.dims)}]" for m in (*arguments, *results))
    head = f"import polyloom as pl\n{', '.join(SIZES)} = pl.sizes('{' '.join(SIZES)}')\n\n@pl.kernel\n"
    return f"{head}def random(a: pl.f32, b: pl.f32, {given_}) -> None:\n" + "\n".join(lines) + "\n"


def check(format: Any, text: str, seed: int, sizes: tuple[int, int, int]) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "random.py")
        file.write_text(text)
        try:
            compiled = pl.compile(file, on="tensix", format=format)
        except PolyloomError as error:
            # What no array in L1 suits, and what is no plan of equations, is refused.
            assume(error.code not in ("PL1230", "PL0262", "PL0263"))
            raise
    used = {name: sizes[n % 3] for n, name in enumerate(SIZES) if name in text.split("def ")[1].replace("None", "")}
    result = compiled.run(used, seed=seed)
    assert result.verified
    assert cast(float, result.data["max_error"]) <= cast(float, result.data["bound"])


EXTENTS = st.sampled_from([(1, 40, 33), (32, 64, 5), (70, 33, 40), (100, 40, 20)])
"""All arrays of three stages fit into L1."""
FORMATS = ("tf32", "bf16", "fp16")


@settings(max_examples=4)
@given(st.sampled_from(FORMATS), programs(), st.integers(0, 1000), EXTENTS)  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
def test_random_programs(format: Any, text: str, seed: int, sizes: tuple[int, int, int]) -> None:
    check(format, text, seed, sizes)


@pytest.mark.long
@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=60)
@given(programs(), st.integers(0, 1000), EXTENTS)  # pyright: ignore[reportCallIssue]: hypothesis gives `draw`
def test_many_random_programs(format: Any, text: str, seed: int, sizes: tuple[int, int, int]) -> None:
    check(format, text, seed, sizes)
