# SPDX-License-Identifier: Apache-2.0
"""Request of an exploration: a source, its reading, the points, the condition, the objectives. From it follow the
specification that a folder keeps, and the key of every row.

A key is the hash of all that decides a row: the text of the source and of what it includes or imports, how it is read,
the resolved machine, the values, the level, the seed and this version. The specification has the same, in words, for
people to compare.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os.path import relpath
from pathlib import Path
from typing import Any

from polyloom import files
from polyloom.exploration.point_condition import Where
from polyloom.exploration.row import OBJECTIVES, Level
from polyloom.exploration.space import Point, Space
from polyloom.frontend import source_file
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.dependencies import dependencies_with_options
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Options
from polyloom.ir.nest_c import print_c
from polyloom.recursion import with_deep_stack
from polyloom.targets import registry
from polyloom.targets.options import verb_options
from polyloom.targets.subject import Written
from polyloom.version import VERSION


@dataclass(frozen=True, slots=True)
class Request:
    """`level` is None for what is done by default: all points predicted, those that matter verified. `timeout` is in
    seconds, for each point."""

    source: Any
    space: Space
    reading: Options
    where: Where | None = None
    objectives: tuple[str, ...] = OBJECTIVES
    level: Level | None = None
    seed: int = 0
    timeout: float | None = None

    @property
    def title(self) -> str:
        """What messages and pages call the source."""
        path = Written(self.source).path
        return path if path is not None else str(getattr(self.source, "name", None) or self.source)


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a source, and by name the files that it includes or imports."""

    own: bytes
    others: tuple[tuple[str, bytes], ...] = ()

    @property
    def digests(self) -> list[str]:
        """Of the others, with their names."""
        return [f"{name} ({_short(data)})" for name, data in self.others]


def collect_text(source: Any, reading: Options) -> Text:
    """Source text, as a hash needs it. Errors: PL0104, and for a kernel those of its front end."""
    path = Written(source).path
    if path is not None:
        file = source_file(path)
        own, folder = files.read_source(file, "source"), Path(file).resolve().parent
        others = dependencies_with_options(file, reading)
        # Relative names: the same folder elsewhere, or on another machine, has the same keys.
        return Text(own, tuple((relpath(other, folder), files.read(other)) for other in others))
    if isinstance(source, ArraySource):
        return Text(files.read(source.path))
    if isinstance(source, Kernel):
        # Its nest has the constants that the names of its module stand for.
        return Text(f"{source.name}\n{source.source}\n{with_deep_stack(print_c)(source.nest)}".encode())
    return Text(source if isinstance(source, bytes) else repr(source).encode())


def specification(request: Request, source: Text, machines: Mapping[str, str]) -> dict[str, Any]:
    """In plain values; `machines` are resolved descriptions by the text of `--on`."""
    return {
        "version": VERSION,
        "source": request.title,
        "text": _short(source.own),
        "reads": source.digests,
        "reading": {name: value for name, value in asdict(request.reading).items() if value},
        # With a hash: a machine file may have changed under the same name.
        "on": [f"{on} ({_short(machines[on].encode())})" for on in request.space.on],
        "values": [f"{name}={text}" for name, text in request.space.fixed],
        "sweep": [str(axis) for axis in request.space.axes],
        "set": [str(axis) for axis in request.space.settings],
        "where": request.where.text if request.where else None,
        "objectives": list(request.objectives),
        "level": request.level,
        "seed": request.seed,
        "timeout": request.timeout,
    }


class Keys:
    """Content-addressed keys of rows. What all rows of a machine have in common is hashed once."""

    def __init__(self, request: Request, source: Text) -> None:
        texts = [_digest(source.own), *(_digest(data) for _, data in source.others)]
        common = [VERSION, texts, asdict(request.reading), request.seed, request.timeout]
        self._common = json.dumps(common, sort_keys=True)
        self.source = _digest(self._common.encode())
        self._bases: dict[tuple[str, object], Any] = {}
        self.foreign = list_foreign_options(request.space.on)

    def of(self, point: Point, level: Level, machine: str) -> str:
        """`machine` is the description of the point's machine."""
        base = self._bases.get((point.on, point.settings))
        if base is None:
            base = hashlib.sha256(json.dumps([self._common, point.on, machine]).encode())
            self._bases[point.on, point.settings] = base
        # The state of the hash after the common part: a point adds its few bytes only.
        own = base.copy()
        own.update(json.dumps([level, select_values(point, self.foreign)]).encode())
        # 128 bits: two of 2**32 rows collide with a probability of about 2**-65.
        return own.hexdigest()[:32]


def collect_options(targets: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """By `--on`: the options that a point may have."""
    return {on: frozenset(verb_options(registry.split_place(on)[0].options, "instantiate")) for on in targets}


def list_foreign_options(targets: tuple[str, ...]) -> Mapping[str, frozenset[str]]:
    """By `--on`: the options that other targets of the sweep have, and this one lacks."""
    own = collect_options(targets)
    return {on: frozenset[str]().union(*own.values()) - names for on, names in own.items()}


def select_values(point: Point, foreign: Mapping[str, frozenset[str]]) -> tuple[tuple[str, str], ...]:
    """Values of a point without the options that only other targets of the sweep have."""
    skipped = foreign[point.on]
    return tuple(pair for pair in point.values if pair[0] not in skipped) if skipped else point.values


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _short(data: bytes) -> str:
    """For people."""
    return _digest(data)[:16]
