# SPDX-License-Identifier: Apache-2.0
"""Streamed product with a formula of its sums: the threads of threads.py, which wait for panels and columns in L1 and
tell what they have packed (double buffering, as in the stream without a formula).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.targets.tensix.map.loops.fused.threads import (
    Epilogue,
    Hooks,
    counter_word,
    multiply_part,
    pack_part,
    unpack_part,
)
from polyloom.targets.tensix.map.loops.product_pack import begin_packing
from polyloom.targets.tensix.map.loops.stream import (
    COLUMNS,
    PACKED,
    PANELS,
    WRITTEN,
    Stream,
    await_count,
    tell_count,
)
from polyloom.targets.tensix.map.loops.thread import Lines, Parts, await_idle, exchange, inline_words


def stream_threads(s: Stream, e: Epilogue) -> Parts:
    """Programs of T0, T1 and T2 of a streamed product, as those of stream.py: s9 and s10 count columns and panels, s3
    and s11 are the places of the panel and of the next one, a5 counts the columns of a panel.
    """
    assert s.beside is not None, "the stream was placed for the formula"
    p, panel = replace(s.product, rows=s.panel_rows, columns=s.columns), counter_word(1)
    other = panel + (s.panel_tiles if s.panels > 1 else 0)
    # The first panel is behind an exchange, as all are.
    begin = ["li s9, 0", "li s10, 0", "li a5, 0", f"li s3, {other:#x}", f"li s11, {panel:#x}"]
    unpacks = Hooks(begin, (_begin_column(s, 0), _begin_column(s, 1)))
    packs = Hooks(
        ["li s9, 0", "li s10, -1"], (_begin_packing(s, 0), _begin_packing(s, 1)), (_end_packing(s), _end_packing(s))
    )
    return unpack_part(p, e, unpacks), multiply_part(p, e), pack_part(p, e, packs)


def _begin_column(s: Stream, buffer: int) -> Lines:
    """T0: the next column, and where it is a panel's first the next panel, when they are in L1."""
    assert s.beside is not None
    at, arrays = counter_word(0), range(s.beside.count)
    # A branch, since panels have odd numbers of columns, too, and buffers go by pairs of columns.
    panel = [f"bnez a5, same{buffer}", "addi s10, s10, 1", *await_count(s, PANELS, "s10", f"panel{buffer}")]
    panel += [
        *exchange("s3", "s11"),
        f"li a5, {s.product.columns}",
        f"same{buffer}:",
        "addi a5, a5, -1",
    ]
    column = ["addi s9, s9, 1", *await_count(s, COLUMNS, "s9", f"column{buffer}")]
    column += ["mv s1, s3", f"li s2, {at + buffer * s.column_tiles:#x}"]
    places = (f"li a{n}, {at + (buffer * s.beside.count + n) * s.beside_tiles:#x}" for n in arrays)
    return [*panel, *column, *places]


def _begin_packing(s: Stream, buffer: int) -> Lines:
    words = begin_packing(s.product, s.product.result + buffer * s.block_bytes)
    return [
        "addi s9, s9, 1",
        *await_count(s, WRITTEN, "s10", f"written{buffer}"),
        "addi s10, s10, 1",
        *inline_words(*words),
    ]


def _end_packing(s: Stream) -> Lines:
    return [*await_idle(), *tell_count(s, PACKED, "s9")]
