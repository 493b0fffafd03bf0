# SPDX-License-Identifier: Apache-2.0
"""Configuration fields of a tile, from config.txt, whose head explains its lines, and config_blackhole.txt.

`NAME_ADDR32`, `NAME_SHAMT` and `NAME_MASK` are the constants that kernels use; a bare name is its word. Names and
places are those of the vendor's cfg_defines.h; ISA documentation, page of `SETC16` and page of `WRCFG`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from polyloom.targets.tensix.words.isa import Member

_WORD: Final = re.compile(r"(\d+)(?:\+(\d+)\*(\d+))?")
_REPEATED: Final = re.compile(r"(.*)\{(\d+)\.\.(\d+)\}")
_BITS: Final = 32
_FILES: Final[Mapping[Member, str]] = {"wormhole": "config.txt", "blackhole": "config_blackhole.txt"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration field: bits [shift, shift + width) of a word; wider than 32 bits, it takes the words after it
    too. `thread`: there is one per thread, which SETC16 writes.
    """

    name: str
    word: int
    shift: int
    width: int
    thread: bool

    @property
    def mask(self) -> int:
        """In place."""
        return ((1 << self.width) - 1) << self.shift


@cache
def settings(member: Member = "wormhole") -> Mapping[str, Setting]:
    """Configuration fields by name, in the order of their words."""
    text = files("polyloom.targets.tensix.words").joinpath(_FILES[member]).read_text(encoding="utf-8")
    # A line that is indented by four blanks continues the one before.
    lines = text.replace("\n    ", " ").splitlines()
    found: dict[str, Setting] = {}
    thread = True
    for line in lines:
        if line in ("thread", "shared"):
            thread = line == "thread"
        elif line and not line.startswith("#"):
            found |= {setting.name: setting for setting in _settings(line, thread)}
    return found


@cache
def constants(member: Member = "wormhole") -> Mapping[str, int]:
    """Every name that an operand's expression may use, with its value."""
    made: dict[str, int] = {}
    for name, setting in settings(member).items():
        parts = {"": setting.word, "_ADDR32": setting.word, "_SHAMT": setting.shift, "_MASK": setting.mask}
        made |= {f"{name}{suffix}": value for suffix, value in parts.items()}
    return made


@cache
def word_field_names(word: int, thread: bool, member: Member = "wormhole") -> tuple[str, ...]:
    """Names of the fields in a word of the configuration."""
    return tuple(s.name for s in settings(member).values() if s.word == word and s.thread == thread)


def _settings(line: str, thread: bool) -> Iterator[Setting]:
    """Fields of a line; `START+STRIDE*COUNT` repeats them for numbered registers."""
    place, register, *fields = line.split()
    at = _WORD.fullmatch(place)
    assert at is not None, line
    start, stride, count = int(at[1]), int(at[2] or 0), int(at[3] or 1)
    for number in range(count):
        prefix = register.replace("#", str(number))
        for text in fields:
            for name, shift, width in _fields(text):
                yield Setting(f"{prefix}_{name}", start + number * stride, shift, width, thread)


def _fields(text: str) -> Iterator[tuple[str, int, int]]:
    """Fields of one entry `NAME@SHIFT.WIDTH`; `{A..B}` in a name repeats it side by side within the word."""
    name, _, bits = text.partition("@")
    shift, width = map(int, bits.split("."))
    repeated = _REPEATED.fullmatch(name)
    if repeated is None:
        yield name, shift, width
        return
    for place, number in enumerate(range(int(repeated[2]), int(repeated[3]) + 1)):
        # Repeated fields never cross a word, so that each has a mask of its own.
        assert shift + place * width < _BITS, text
        yield f"{repeated[1]}{number}", shift + place * width, width
