# SPDX-License-Identifier: Apache-2.0
"""What phases pack in the scratchpads of shires: minions of a shire that are phases apart do not overwrite it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from tests.targets.minion.stages.ordering import Runs
from tests.targets.minion.stages.test_networks import run as run_network
from tests.targets.minion.stages.test_random import check as check_function

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.minion import compile as compiling
from polyloom.targets.minion.map import phase_barriers
from polyloom.targets.minion.map.frame import Team
from polyloom.targets.minion.map.phase_barriers import Scope, Step, place_barriers
from polyloom.targets.minion.map.product import compile as product
from polyloom.targets.minion.map.product import product_chain

_PACKED: Final = (("f16", "{k}, j", "f32"), ("i8", "{k}, j", "i32"), ("f32", "j, {k}", "f32"))
"""Elements of a right factor that is packed, how it lies, and the type of sums."""
_PLAIN: Final = ("f32", "{k}, j", "f32")


def products(kinds: list[tuple[str, str, str]]) -> str:
    """A function of products that do not depend on one another."""
    names = [f"{letter}{n}" for n in range(len(kinds)) for letter in "NMK"]
    arguments, body = list[str](), ""
    for n, (element, at, total) in enumerate(kinds):
        sides = at.format(k=f"K{n}").replace("j", f"M{n}")
        arguments += [
            f"A{n}: pl.{element}[N{n}, K{n}]",
            f"B{n}: pl.{element}[{sides}]",
            f"C{n}: pl.{total}[N{n}, M{n}]",
        ]
        wide = "{}" if element == total else f"pl.to_{total}({{}})"
        left, right = wide.format(f"A{n}[i, k]"), wide.format(f"B{n}[{at.format(k='k')}]")
        body += f"    for i in range(N{n}):\n        for j in range(M{n}):\n            for k in range(K{n}):\n"
        body += f"                C{n}[i, j] += {left} * {right}\n"
    head = f"import polyloom as pl\n\n{', '.join(names)} = pl.sizes('{' '.join(names)}')\n\n\n"
    return f"{head}@pl.kernel\ndef f({', '.join(arguments)}):\n{body}"


def compiled(kinds: list[tuple[str, str, str]], minions: int, folder: Path) -> pl.Compiled:
    path = folder / "products.py"
    path.write_text(products(kinds))
    return pl.compile(str(path), on=f"minion:{minions}")


def sizes(each: list[tuple[int, int, int]]) -> dict[str, Any]:
    return {f"{letter}{n}": size for n, three in enumerate(each) for letter, size in zip("NMK", three, strict=True)}


UNEVEN: Final = sizes([(144, 80, 160), (64, 80, 64)])
"""Minions of one column of blocks have another one in the first product when the others are in the second."""


def test_a_faster_minion_does_not_pack_over_what_another_one_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(monkeypatch)
    result = compiled([_PACKED[0], _PACKED[0]], 8, tmp_path).run(**UNEVEN)
    assert result.verified
    assert result.data["hazards"] == []
    assert runs.stores() > 0
    assert runs.unordered() == []


def test_without_the_barrier_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_overlap(*_: object) -> bool:
        return False

    monkeypatch.setattr(phase_barriers, "_overlap_buffers", no_overlap)
    with pytest.raises(PolyloomError, match=r"may still read or write"):
        compiled([_PACKED[0], _PACKED[0]], 8, tmp_path).run(**UNEVEN)
    # Also where the machine's time hides it.
    runs = Runs(monkeypatch, "off")
    even = compiled([_PACKED[0], _PACKED[0]], 8, tmp_path).run(**sizes([(64, 64, 64), (64, 64, 64)]))
    assert even.verified
    lines = {(here.rpartition(":")[2], there.rpartition(":")[2]) for here, there, _ in runs.unordered()}
    assert lines == {("15", "11")}


def check(seed: int, folder: Path, runs: Runs) -> None:
    random = Random(seed)
    kinds = [random.choice((*_PACKED, _PLAIN)) for _ in range(random.randint(2, 3))]
    each = [(random.randint(1, 150), random.randint(1, 100), random.randint(1, 100)) for _ in kinds]
    result = compiled(kinds, random.choice((2, 3, 8, 16, 32, 64)), folder).run(**sizes(each))
    assert result.verified
    assert result.data["hazards"] == []
    assert runs.unordered() == []
    assert runs.unequal_joins() == []


@pytest.mark.parametrize("seed", [0, 1, 218])
def test_random_products(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, tmp_path, Runs(monkeypatch))


def test_one_barrier_for_all_and_for_first_harts_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "_PATCH_PACKED", 30)
    runs = Runs(monkeypatch)
    with pytest.raises(PolyloomError, match="barrier mismatch"):
        check(218, tmp_path, runs)
    assert runs.unequal_joins() == [30]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_random_products(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, tmp_path, Runs(monkeypatch))


CHAIN: Final = """\
    for i in range({n}):
        for j in range({r}):
            for k in range({n}):
                T{at}[i, j] += A{at}[i, k] * B{at}[k, j]
    for i in range({n}):
        for j in range({r}):
            for k in range({r}):
                D{at}[i, j] += T{at}[i, k] * V{at}[k, j]
"""
TURNED: Final = """\
    for i in range({n}):
        for j in range({r}):
            for k in range({n}):
                T{at}[i, j] += A{at}[i, k] * B{at}[k, j]
    for i in range({n}):
        for j in range({r}):
            for k in range({n}):
                D{at}[i, j] += V{at}[i, k] * T{at}[k, j]
"""
PACKED: Final = """\
    for i in range({n}):
        for j in range({r}):
            for k in range({r}):
                D{at}[i, j] += A{at}[i, k] * B{at}[j, k]
"""
VECTOR: Final = """\
    for i in range({n}):
        for k in range({r}):
            D{at}[i] += A{at}[i, k] * V{at}[k]
"""
SHAPES: Final = {
    VECTOR: {"A": "n r", "V": "r", "D": "n"},
    CHAIN: {"T": "n r", "A": "n n", "B": "n r", "D": "n r", "V": "r r"},
    TURNED: {"T": "n r", "A": "n n", "B": "n r", "D": "n r", "V": "n n"},
    PACKED: {"A": "n r", "B": "r r", "D": "n r"},
}
"""Products that lead to products are chains, whose first results are in the scratchpad, each minion's own; a
product of a matrix and a vector turns its tiles over there."""


@pytest.mark.parametrize(
    "steps",
    [
        [(CHAIN, 72, 16), (CHAIN, 40, 48)],
        [(TURNED, 40, 32), (PACKED, 64, 64)],
        [(PACKED, 72, 32), (CHAIN, 64, 48)],
        [(CHAIN, 72, 16), (CHAIN, 40, 16)],
        [(VECTOR, 300, 64), (PACKED, 64, 64)],
    ],
)
def test_minions_own_parts(steps: list[tuple[str, int, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_cycles(_: object) -> int:
        return 0

    # Wherever there may be a chain, there is one.
    monkeypatch.setattr(product_chain, "chain_cycles", no_cycles)
    arguments, body = list[str](), ""
    for at, (text, n, r) in enumerate(steps):
        named = {name: shape.replace("n", str(n)).replace("r", str(r)) for name, shape in SHAPES[text].items()}
        arguments += [f"{name}{at}: pl.f32[{shape.replace(' ', ', ')}]" for name, shape in named.items()]
        body += text.format(at=at, n=n, r=r)
    path = tmp_path / "chains.py"
    path.write_text(f"import polyloom as pl\n\n\n@pl.kernel\ndef f({', '.join(arguments)}):\n{body}")
    runs, placed = Runs(monkeypatch), list[Scope]()

    def scopes(steps: list[Step], team: Team) -> list[Scope]:
        placed[:] = place_barriers(steps, team)
        return placed

    monkeypatch.setattr(compiling, "place_barriers", scopes)
    result = pl.compile(str(path), on="minion:8", all_minions=True).run()
    assert result.verified
    assert result.data["hazards"] == []
    assert runs.unordered() == []
    # Minions that have as much each do not wait for one another.
    is_same = steps[0][0] == steps[1][0] and steps[0][2] == steps[1][2]
    assert placed == ["none", "none" if is_same else "shire"]


def test_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch)
    run_network("attention", 64, tmp_path)
    assert runs.stores() > 0
    assert runs.unordered() == []


@pytest.mark.parametrize("seed", [6])
def test_random_functions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch)
    check_function(seed, tmp_path)
    assert runs.unordered() == []


@pytest.mark.long
@pytest.mark.parametrize("seed", range(500, 700))
def test_many_random_functions(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch)
    check_function(seed, tmp_path)
    assert runs.unordered() == []
