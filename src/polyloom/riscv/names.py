# SPDX-License-Identifier: Apache-2.0
"""Instruction set names: `rv64gc_zicond_zbb`, after the chapter "ISA Extension Naming Conventions" of the RISC-V
unprivileged manual.

`g` is imafd_zicsr_zifencei; d implies f, and f implies zicsr. Names are read in any order, in either case, and written
in canonical order. `+sfb` behind it is no extension, but tunes for cores that execute a branch over one instruction
cheaply (short forward branches).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest

LETTERS: Final = "imafdc"
TUNING: Final = "sfb"
NAMES: Final = ("zicond", "zicsr", "zifencei", "zbb")
VENDORS: Final = ("xaifet",)
"""Extensions of vendors, each for a target of its own: `parse_isa` does not read them."""
_GENERAL: Final = ("i", "m", "a", "f", "d", "zicsr", "zifencei")
_IMPLIED: Final = {"d": ("f", "zicsr"), "f": ("zicsr",)}
_HELP: Final = "write for instance rv64gc, rv32imac or rv64gc_zicond_zbb"


@dataclass(frozen=True, slots=True)
class Isa:
    """Instruction set: `xlen` is 32 or 64; `extensions` holds letters and names, also implied ones; `short_branches` is
    the tuning.
    """

    xlen: int
    extensions: frozenset[str]
    short_branches: bool = False

    def __str__(self) -> str:
        letters = "".join(letter for letter in LETTERS if letter in self.extensions)
        if self.extensions.issuperset(_GENERAL):
            letters = "g" + "".join(letter for letter in letters if letter not in _GENERAL)
        implied = {name for letter in letters for name in (_GENERAL if letter == "g" else _IMPLIED.get(letter, ()))}
        names = "_".join(
            [f"rv{self.xlen}{letters}", *(name for name in (*NAMES, *VENDORS) if name in self.extensions - implied)]
        )
        return f"{names}+{TUNING}" if self.short_branches else names


def parse_isa(text: str, option: str = "--isa") -> Isa:
    """Instruction set of a name. Errors: PL0901 for what is no name, unknown or contradictory."""
    found = re.fullmatch(r"rv(\d+)([a-z]*)((?:_[a-z0-9]*)*)(?:\+(.*))?", text.lower())
    if found is None:
        raise _error(option, text, 0, len(text), f"'{text}' names no RISC-V instruction set", _HELP)
    if found[1] not in ("32", "64"):
        raise _error(option, text, *found.span(1), f"XLEN is {found[1]}", "XLEN is 32 or 64")
    # Names of several letters begin with z, and may follow the letters without an underscore.
    letters, names = re.match("[a-y]*", found[2]), re.search("z.*", found[2])
    assert letters is not None
    parts = [(letter, letters.start() + found.start(2) + n) for n, letter in enumerate(letters[0])]
    parts += [(names[0], found.start(2) + names.start())] if names else []
    parts += [(m[1], found.start(3) + m.start(1)) for m in re.finditer("_([a-z0-9]*)", found[3])]
    extensions: set[str] = set()
    for name, place in parts:
        _check_extension(option, text, name, place, [n for n, p in parts if p < place])
        extensions.update(_GENERAL if name == "g" else (name, *_IMPLIED.get(name, ())))
    if "i" not in extensions:
        raise _error(
            option,
            text,
            0,
            len(text),
            f"{text} has no base instruction set",
            f"write rv{found[1]}i or rv{found[1]}g first",
        )
    if found[4] not in (None, TUNING):
        raise _error(
            option,
            text,
            found.start(4) - 1,
            len(text),
            f"the tuning '+{found[4]}' is not known",
            f"write +{TUNING}, or nothing",
        )
    return Isa(int(found[1]), frozenset(extensions), found[4] is not None)


def _check_extension(option: str, text: str, name: str, place: int, before: list[str]) -> None:
    end = place + max(1, len(name))
    if (name == "e" and not {"i", "g"}.isdisjoint(before)) or (name in ("i", "g") and "e" in before):
        raise _error(
            option, text, place, end, "the bases e and i contradict each other", "write i: the model has 32 registers"
        )
    if name in before or (name in _GENERAL and "g" in before):
        raise _error(
            option, text, place, end, f"'{name}' is given twice", "give every extension once; g is imafd_zicsr_zifencei"
        )
    if name not in (*LETTERS, "g", *NAMES):
        raise _error(
            option,
            text,
            place,
            end,
            f"the extension '{name}' is not modelled",
            nearest(name, ["g", *LETTERS, *NAMES], "extension"),
        )


def _error(option: str, text: str, start: int, end: int, message: str, help: str) -> PolyloomError:
    return input_error("PL0901", message, span=Span(Source(option, text), start, end), help=help)
