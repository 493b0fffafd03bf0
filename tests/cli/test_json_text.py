# SPDX-License-Identifier: Apache-2.0
"""Every value and key of any JSON text is found at its place."""

from __future__ import annotations

import json
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from polyloom.cli.json_text import Path, parse_json
from polyloom.diagnostics import Span

LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))
VALUES = st.recursive(
    LEAVES,
    lambda v: st.one_of(st.lists(v, max_size=4), st.dictionaries(st.text(max_size=3), v, max_size=4)),
    max_leaves=12,
)


def paths(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType, reportUnknownMemberType]
    for key, member in members:  # pyright: ignore[reportUnknownVariableType]
        yield from paths(member, (*path, key))  # pyright: ignore[reportUnknownArgumentType]


@given(VALUES, st.sampled_from([None, 0, 1, "\t\r"]), st.booleans(), st.text(" \n\t\r", max_size=3))
def test_places(value: object, indent: int | str | None, ascii_only: bool, blanks: str) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, separators=(f"{blanks},", f"{blanks}:{blanks}"))
    document = parse_json(f"{blanks}{text}{blanks}".encode(), "x.json", "")
    for path, member in paths(document.value):
        assert read(document.value_span(path)) == member
        if path and isinstance(path[-1], str):
            assert read(document.key_span(path)) == path[-1]


def read(span: Span) -> object:
    return json.loads(span.source.text[span.start : span.end])
