# SPDX-License-Identifier: Apache-2.0
"""A function on RISC-V through the Python interface, as the command line runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polyloom import api
from polyloom.frontend.source import Options
from polyloom.targets.subject import Progress


def run(
    path: str,
    on: str,
    options: Options,
    scalars: Mapping[str, str],
    arrays: Mapping[str, Any],
    seed: int,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> api.Result:
    """`scalars` are texts by name; arrays that are not given are made up."""
    compiled = api.compile(path, on, options=options, progress=progress)
    own: dict[str, Any] = {} if limit is None else {"max_instructions": limit}
    given = {**scalars, **arrays}
    return compiled.prepare_instance({}).measure(given, seed=seed, fill="random", progress=progress, **own)
