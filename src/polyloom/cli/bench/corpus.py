# SPDX-License-Identifier: Apache-2.0
"""The corpus of tests/corpus: loops as people write them, in C and Python, on 2x2 elements of `wide`.

`loops.toml` is the list: sizes to run each loop with, and the constructs that it needs. A row says whether the outputs
equal the equations' and the source's, or the code of the refusal; `seconds` are CPU time of this process from the
source to the end of the run. The last row counts the verified loops.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, Final, cast

from polyloom import api
from polyloom.cli import examples
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Options

EQUAL: Final = "equal"
REGION: Final = (2, 2)


@dataclass(frozen=True, slots=True)
class Loop:
    """`values` are sizes and scalars by name, `shapes` those of pointers. `refused` is the code of a loop that no loop
    machine can run, `waits` that of one that is not understood yet."""

    source: str
    name: str
    constructs: tuple[str, ...]
    values: str = ""
    shapes: tuple[str, ...] = ()
    refused: str | None = None
    waits: str | None = None

    @property
    def expected(self) -> str:
        return self.refused or self.waits or EQUAL

    def __str__(self) -> str:
        return f"{self.source}:{self.name}"


def folder() -> Path:
    """Where the corpus is. Errors: PL0814 for an installation, which has no tests."""
    found = examples.folder().parent / "tests" / "corpus"
    if not (found / "loops.toml").is_file():
        raise input_error("PL0814", "the corpus is not installed", help="run this table in a checkout of the sources")
    return found


@cache
def loops() -> tuple[Loop, ...]:
    """All of them, in the order of the list."""
    text = (folder() / "loops.toml").read_text(encoding="utf-8")
    return tuple(_loop(row) for row in cast("list[dict[str, Any]]", tomllib.loads(text)["loop"]))


def _loop(row: dict[str, Any]) -> Loop:
    constructs, shapes = tuple(row.pop("constructs")), tuple(row.pop("shapes", ()))
    return Loop(constructs=constructs, shapes=shapes, **row)


def result(loop: Loop) -> api.Result:
    """A run on inputs that are made up. Errors: those of the compiler."""
    made = api.compile(folder() / loop.source, on="tcpa:wide", options=Options(loop.name, shapes=loop.shapes))
    pairs = dict(pair.split("=") for pair in loop.values.split())
    numbers = {name: float(value) if "." in value else int(value) for name, value in pairs.items()}
    sizes = {name: int(value) for name, value in numbers.items() if name in made.parameters}
    scalars = {name: value for name, value in numbers.items() if name not in sizes}
    return made.instantiate(sizes, pes=REGION).run(scalars, fill="random")


def outcome(loop: Loop) -> str:
    """`EQUAL`, or the code of what ended it."""
    try:
        return EQUAL if result(loop).verified else "differs"
    except PolyloomError as error:
        return error.diagnostics[0].code


def rows() -> Iterator[dict[str, object]]:
    found = list[dict[str, object]]()
    for loop in loops():
        found.append(_row(loop))
        yield found[-1]
    verified = sum(row["outcome"] == EQUAL for row in found)
    total = {"loop": f"{len(found)} loops", "constructs": "", "outcome": f"{verified} equal", "cycles": None}
    yield {**total, "seconds": round(sum(cast("float", row["seconds"]) for row in found), 1)}


def _row(loop: Loop) -> dict[str, object]:
    # CPU time, so that other work on the machine counts for nobody.
    start, cycles = process_time(), None
    try:
        ran = result(loop)
        ended, cycles = EQUAL if ran.verified else "differs", ran.cycles
    except PolyloomError as error:
        ended = error.diagnostics[0].code
    seconds = round(process_time() - start, 2)
    constructs = " ".join(loop.constructs)
    return {"loop": str(loop), "constructs": constructs, "outcome": ended, "cycles": cycles, "seconds": seconds}
