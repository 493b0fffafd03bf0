# SPDX-License-Identifier: Apache-2.0
"""Issue of raw instructions of a kernel by one thread, one word per cycle: recording and playback of REPLAY, the
counters of Dst, templates of SFPLOADMACRO, and the vector unit's instructions beside what macros have scheduled.

    execute(state, word) -> the registers that it wrote

Source: ISA documentation, one page per instruction; encodings are those of words/instructions.txt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from polyloom.targets.tensix.source.oracle.macros import configure, execute_macro, idle_cycle, issue_cycle
from polyloom.targets.tensix.source.oracle.state import State
from polyloom.targets.tensix.source.oracle.words import KNOWN, execute_vector, unsupported_error
from polyloom.targets.tensix.words.isa import Instruction, table

# One thread alone has nobody to wait for: the interpreter has no time.
_IDLE: Final = frozenset({"NOP", "STALLWAIT", "DMANOP", "SEMWAIT", "SEMPOST", "SEMGET", "FLUSHDMA"})
_MACROS: Final = frozenset({"SFPNOP", "SFPLOADMACRO"})
_BACKDOOR: Final = 12
"""Destination from which on a word becomes a template."""
_MISCELLANEOUS: Final = 8
"""Last number of SFPCONFIG that configures macros."""


def execute(state: State, word: int) -> set[int]:
    """Execution of a word, recorded where a REPLAY records. Raises PL1244 for what is not modelled."""
    start, left, passes = state.recording
    if left:
        state.replay[start % 32] = word
        state.recording = start + 1, left - 1, passes
        if not passes:
            return set()
    return _execute_decoded(state, word)


def _execute_decoded(state: State, word: int) -> set[int]:
    row = table(state.member).get(word >> 24)
    if row is None or word & ~row.mask:
        raise unsupported_error(f"the word {word:#010x}")
    if row.name == "REPLAY":
        return _replay(state, word)
    if row.name in _IDLE or row.name in _COUNTERS:
        written = idle_cycle(state)
        if row.name in _COUNTERS:
            _COUNTERS[row.name](state, word)
        return written
    if row.unit != "vector" or row.name not in KNOWN | _MACROS:
        raise unsupported_error(row.mnemonic)
    return issue_cycle(state, row, lambda: _execute_issued(state, row, word))


def _execute_issued(state: State, row: Instruction, word: int) -> set[int]:
    if row.name == "SFPNOP":
        return set()
    if row.name == "SFPLOADMACRO":
        return execute_macro(state, row, word)
    target = word >> 20 & 15 if row.field("lreg_ind") is not None else word >> 4 & 15
    # Backdoor load, see the page of `SFPLOADMACRO`: the instruction becomes a template, and moves the counter alone.
    if target >= _BACKDOOR and row.name != "SFPCONFIG":
        state.macros.templates[target - _BACKDOOR] = word
        if (field := row.field("sfpu_addr_mode")) is not None:
            state.advance(field.of(word))
        return set()
    if row.name == "SFPCONFIG" and target <= _MISCELLANEOUS:
        configure(state, target, word & 15, word >> 8 & 0xFFFF)
        return set()
    return execute_vector(state, row, word)


def _replay(state: State, word: int) -> set[int]:
    """REPLAY: recording or playback (ISA documentation, page of `REPLAY`)."""
    start, length = word >> 14 & 31, word >> 4 & 63
    length = length or 64
    if word & 1:
        state.recording = start, length, bool(word >> 1 & 1)
        return set()
    written: set[int] = set()
    for k in range(length):
        written |= _execute_decoded(state, state.replay[(start + k) % 32])
    return written


def _increment(state: State, word: int) -> None:
    """INCRWC of the counter of Dst (ISA documentation, page of `INCRWC`)."""
    by = word >> 14 & 15
    if word >> 20 & 1:
        state.counter = state.carriage = (state.carriage + by) & 0x3FF
    else:
        state.counter = (state.counter + by) & 0x3FF


def _set_counter(state: State, word: int) -> None:
    """SETRWC of the counter of Dst (ISA documentation, page of `SETRWC`)."""
    to_carriage = word >> 21 & 1
    if word & 4 or to_carriage:
        start = state.counter if to_carriage else state.carriage if word >> 20 & 1 else 0
        state.counter = state.carriage = ((word >> 14 & 15) + start) & 0x3FF


def _configure_thread(state: State, word: int) -> None:
    state.thread_config[word >> 16 & 0xFF] = word & 0xFFFF


_COUNTERS: Final[dict[str, Callable[[State, int], None]]] = {
    "INCRWC": _increment,
    "SETRWC": _set_counter,
    "SETC16": _configure_thread,
}
