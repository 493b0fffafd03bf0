# SPDX-License-Identifier: Apache-2.0
"""The container of files against its description in docs/formats.md, written out in Python."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polyloom._native import instantiate as native
from polyloom.binary import FileKind, fletcher64, pack, unpack

SECTIONS = st.lists(st.binary(max_size=40), min_size=1, max_size=6)


def written(kind: FileKind, stamp: int, sections: list[bytes]) -> bytes:
    padded = [s + bytes(-len(s) % 4) for s in sections]
    starts = accumulate((len(s) for s in padded), initial=32 + 4 * len(sections))
    ends = b"".join((at + len(s)).to_bytes(4, "little") for at, s in zip(starts, sections, strict=False))
    names = fletcher64(padded[-1])
    checked = stamp.to_bytes(8, "little") + names.to_bytes(8, "little") + ends + b"".join(padded)
    return kind.magic + kind.version.to_bytes(4, "little") + fletcher64(checked).to_bytes(8, "little") + checked


@given(SECTIONS, st.integers(0, (1 << 64) - 1))
def test_a_file_is_what_the_format_says(sections: list[bytes], stamp: int) -> None:
    kind = FileKind(b"TEST", "test", 3, len(sections))
    made = pack(kind, stamp, sections)
    assert made == written(kind, stamp, sections)
    found, readers = unpack(kind, made)
    assert found == stamp
    assert [r.take(r.end - r.position) for r in readers] == sections


def test_a_file_begins_with_four_bytes() -> None:
    with pytest.raises(ValueError, match="four bytes"):
        native.pack(b"LONGER", 1, 0, [b""])
