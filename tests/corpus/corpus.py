# SPDX-License-Identifier: Apache-2.0
"""The corpus: loops as people write them, each with sizes to run it with and the constructs that it needs.

`loops.toml` is the table. A loop runs on 2x2 elements of `wide`, where its outputs are compared with the equations
and with its own source. `refused` is the code of a loop that no loop machine can run, `waits` that of one that is not
understood yet: a loop may lose `waits`, and nothing else changes.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

FOLDER = Path(__file__).parent
EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Loop:
    """`values` are sizes and scalars by name, `shapes` those of pointers."""

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


@cache
def loops() -> tuple[Loop, ...]:
    """All of them, in the order of the table."""
    text = (FOLDER / "loops.toml").read_text(encoding="utf-8")
    rows = cast("list[dict[str, Any]]", tomllib.loads(text)["loop"])
    return tuple(_loop(row) for row in rows)


def _loop(row: dict[str, Any]) -> Loop:
    constructs, shapes = tuple(row.pop("constructs")), tuple(row.pop("shapes", ()))
    return Loop(constructs=constructs, shapes=shapes, **row)


def outcome(loop: Loop) -> str:
    """`EQUAL`, or the code of what ended it."""
    path = FOLDER / loop.source
    try:
        options = Options(loop.name, shapes=loop.shapes)
        made = api.compile(path, on="tcpa:wide", options=options)
        pairs = dict(pair.split("=") for pair in loop.values.split())
        numbers = {name: float(value) if "." in value else int(value) for name, value in pairs.items()}
        sizes = {name: int(value) for name, value in numbers.items() if name in made.parameters}
        scalars = {name: value for name, value in numbers.items() if name not in sizes}
        result = made.instantiate(sizes, pes=(2, 2)).run(scalars, fill="random")
    except PolyloomError as error:
        return error.diagnostics[0].code
    return EQUAL if result.verified else "differs"
