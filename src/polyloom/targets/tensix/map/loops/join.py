# SPDX-License-Identifier: Apache-2.0
"""Concatenation of the programs of three threads, one stage after another.

A stage finds the tile as it is after a reset: each thread writes 0 to the words of the configuration that earlier
stages wrote and this one does not. Barrier between stages: T2 takes back the semaphores, each core waits until its
thread is idle, says so in L1 and waits for both others; what a stage packed is in L1 before the next one unpacks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from polyloom.targets.tensix.map.loops.thread import (
    CONFIGURATION,
    STORES,
    Lines,
    Part,
    Parts,
    assemble_thread,
    await_idle,
    encode_word,
    inline_words,
    setc16_words,
    start,
    store_words,
)
from polyloom.targets.tensix.options import THREADS
from polyloom.targets.tensix.words.arrays.area import CODE

Programs = tuple[list[Lines], list[Lines], list[Lines]]
"""Of each thread, stage by stage."""
# The reasons of a listing recognize the barrier by these registers (origins.py).
MEETING: Final = ("s9", "s10", "s11")
"""Registers by which cores meet, which no stage uses."""
_JUMPS: Final = ("bnez", "beqz", "blt", "bge", "jal")
_SEMAPHORES: Final = 15
"""Those that stages use."""


def join_stages(stages: Sequence[Parts], meeting: int = 0) -> Programs:
    """Programs of T0, T1 and T2 by stage; in L1 at `meeting` is a word for each thread, the number of stages that it
    has done.
    """
    clean = [_clear_thread_config([parts[thread].own for parts in stages]) for thread in range(3)]
    shared = _clear_shared_config(stages)
    made: Programs = [], [], []
    for number, parts in enumerate(stages):
        for thread, part in enumerate(parts):
            # s0 holds the address of pushes through all stages; no stage changes it.
            lines = start() if not number else []
            lines += _stage_lines(part, shared[number][thread], clean[thread][number], number)
            if number + 1 < len(stages):
                lines += _barrier(thread, number + 1, meeting)
            made[thread].append(lines)
    return made


def assemble_parts(parts: Sequence[Parts | None], meeting: int) -> tuple[bytes, dict[str, int], list[dict[int, str]]]:
    """Assembly of the programs, one behind the other: their bytes, where each begins, and by stage the line of each
    address.
    """
    some = [each for each in parts if each is not None]
    # Only a program of one stage may have nothing to do (PL1237 for others); its three programs are empty then.
    programs: Programs = join_stages(some, meeting) if len(some) == len(parts) else ([[]], [[]], [[]])
    code, starts, found = b"", dict[str, int](), [dict[int, str]() for _ in programs[0]]
    for name, stages in zip(THREADS, programs, strict=True):
        starts[name] = len(code)
        words, known = assemble_thread(stages, CODE + len(code))
        code, found = code + words, [a | b for a, b in zip(found, known, strict=True)]
    return code, starts, found


def _stage_lines(part: Part, shared: Mapping[int, int], own: Mapping[int, int], number: int) -> Lines:
    # Stores of the core and words of the thread take different ways: without the wait, work could begin with the old
    # configuration.
    begin = inline_words(encode_word("STALLWAIT", stall_res=part.holds, wait_res=STORES), *setc16_words(own))
    return [*(store_words(CONFIGURATION, shared) if shared else []), *begin, *prefix_labels(part.lines, f"s{number}.")]


def prefix_labels(lines: Lines, prefix: str) -> Lines:
    """Labels of their own."""
    return [_prefix_label(line, prefix) for line in lines]


def _prefix_label(line: str, prefix: str) -> str:
    name = line.partition(" ")[0]
    if name in _JUMPS:
        # Only the target of a branch stands behind the last comma and is a label.
        before, comma, label = line.rpartition(", ")
        return f"{before}{comma}{prefix}{label}"
    if name == "j":
        return f"j {prefix}{line.removeprefix('j ')}"
    return f"{prefix}{line}" if line.endswith(":") else line


def _clear_thread_config(values: Sequence[Mapping[int, int]]) -> list[dict[int, int]]:
    """Thread configuration by stage, with zeros for what earlier stages wrote."""
    made, known = list[dict[int, int]](), dict[int, int]()
    for each in values:
        made.append({**dict.fromkeys(known, 0), **each})
        known |= dict.fromkeys(each, 0)
    return made


def _clear_shared_config(stages: Sequence[Parts]) -> list[list[dict[int, int]]]:
    """Shared configuration by stage and thread; a word that nobody writes in a stage is cleared by who wrote it
    last."""
    made, owners = list[list[dict[int, int]]](), dict[int, int]()
    for parts in stages:
        now = {at: thread for thread, part in enumerate(parts) for at in part.shared}
        assert len(now) == sum(len(part.shared) for part in parts), "a word has one writer"
        cleared = [{at: 0 for at, owner in owners.items() if owner == t and at not in now} for t in range(3)]
        made.append([{**cleared[t], **part.shared} for t, part in enumerate(parts)])
        owners |= now
    return made


def _barrier(thread: int, done: int, meeting: int) -> Lines:
    """Barrier of the three cores over L1: store the own count, then poll both others (ISA documentation, TTSync: a load
    at 0xFFE80004 waits until the thread is idle).
    """
    # A stage begins with its own counts; the values that the last one left would be wrong.
    lines = (
        inline_words(encode_word("SEMINIT", max_value=15, sem_sel=_SEMAPHORES)) if thread == THREADS.index("t2") else []
    )
    lines += await_idle("s9", "s11")
    # Counts only grow, so no word has to be reset between stages.
    lines += [f"li s9, {meeting:#x}", f"li s10, {done}", f"sw s10, {4 * thread}(s9)"]
    for other in range(3):
        if other != thread:
            label = f"s{done}.{THREADS[other]}"
            lines += [f"{label}:", f"lw s11, {4 * other}(s9)", f"blt s11, s10, {label}"]
    return lines
