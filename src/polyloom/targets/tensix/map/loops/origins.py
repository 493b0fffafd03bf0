# SPDX-License-Identifier: Apache-2.0
"""Provenance of the words of a tile's threads: what computes is the user's, everything else has a reason.

The reason of a Tensix word is that of its instruction; a core's own instructions prepare words, or count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom.ir.ssa import NOWHERE, Place
from polyloom.targets.tensix.map.loops.join import MEETING
from polyloom.targets.tensix.map.loops.thread import StatementLine
from polyloom.targets.tensix.words.decode import decode
from polyloom.targets.tensix.words.encode import unrotate_word

_WORD: Final = ".word "
_WAITS: Final = "waits for another unit or thread"
_TELLS: Final = "tells another thread"
_SETS: Final = "configures units"
_COUNTS: Final = "counts addresses"
_REPEATS: Final = "repeats recorded words"
_REASONS: Final = {
    **dict.fromkeys(("STALLWAIT", "SEMWAIT"), _WAITS),
    **dict.fromkeys(("SEMGET", "SEMPOST", "SEMINIT"), _TELLS),
    **dict.fromkeys(("SETC16", "WRCFG", "SETDMAREG", "SFPCONFIG", "SFPENCC", "SFPLOADI"), _SETS),
    **dict.fromkeys(("SETADC", "SETADCXX", "SETADCZW", "SETRWC", "INCRWC", "ADDDMAREG"), _COUNTS),
    **dict.fromkeys(("MOP", "REPLAY"), _REPEATS),
    "UNPACR": "brings a tile of an operand from L1",
    "PACR": "takes a tile of the result to L1",
    "ZEROACC": "clears sums",
    "NOP": "waits for a cycle",
    "SFPNOP": "waits for a cycle",
}
_STORES: Final = ("li t0,", "li t1,", "sw t1,")
"""What thread.py writes for stores to the configuration, whose registers are its own."""
_MEETS: Final = "waits until all threads have ended a stage"
_CORE: Final = "prepares words and counts tiles"
_ENDS: Final = "ends the program"


def origins(lines: Mapping[int, str], home: Place, known: Mapping[int, Place] | None = None) -> dict[int, Place]:
    """Place of each address, by its line of assembly. `home` is where the result is computed; `known` are words that
    have a place of their own.
    """
    return {at: _origin(line, home, known or {}) for at, line in lines.items()}


def _origin(line: str, home: Place, known: Mapping[int, Place]) -> Place:
    home = replace(line.place if isinstance(line, StatementLine) else home, column=0)
    if not line.startswith(_WORD):
        return replace(home, reason=_core_reason(line))
    word = unrotate_word(int(line.removeprefix(_WORD), 0))
    if (own := known.get(word, NOWHERE)) != NOWHERE:
        # Statements may have words in common: the place of the line tells them apart.
        return replace(home, reason="") if isinstance(line, StatementLine) else replace(own, column=0)
    found = decode(word)
    return replace(home, reason="" if found is None else _REASONS.get(found.row.name, ""))


def _core_reason(line: str) -> str:
    if line == "ebreak":
        return _ENDS
    # Counts of streams are in words whose address is in t2 (stream.py).
    if line.startswith(("li t2,", "blt t1,")) or "(t2)" in line:
        return _TELLS if line.startswith("sw ") else _WAITS
    if any(register in line for register in MEETING):
        return _MEETS
    return _SETS if line.startswith(_STORES) else _CORE
