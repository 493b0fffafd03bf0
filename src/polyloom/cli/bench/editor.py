# SPDX-License-Identifier: Apache-2.0
"""Latency of diagnostics: `polyloom bench editor`, milliseconds from a change of a buffer until what the language has
wrong is known, once warm, and seconds until intervals are solved, for each language; medians.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from polyloom.cli import examples
from polyloom.editor.check import Request
from polyloom.editor.worker import Worker
from polyloom.targets.entry import BUILT_IN

TIMES: Final = 11
_CASES: Final = {
    "matmul.pla": "madd",
    "kernels/gemm.py": "alpha *",
    "kernels/fdtd2d.py": "0.5",
    "kernels/gemm.c": "alpha *",
    "mlir/stencil.mlir": "arith.addf",
}
"""Examples that a package or a checkout has, each with a text in it that is misspelt by every second change."""


def rows(times: int = TIMES) -> Iterator[dict[str, object]]:
    for name, word in _CASES.items():
        path = examples.folder() / name
        if not path.is_file():
            continue
        texts = changed_texts(path.read_text(encoding="utf-8"), word)
        found = [seconds for seconds, _ in change_seconds(str(path), texts, times)]
        row = {"file": name, "median_ms": round(1000 * median(found)), "largest_ms": round(1000 * max(found))}
        yield {**row, "solved_s": round(_solved_seconds(path, texts["right"]), 1)}


def changed_texts(text: str, word: str) -> Mapping[str, str]:
    """Text of a file, and one with a mistake in the last place of a word."""
    before, _, after = text.rpartition(word)
    return {"wrong": f"{before}{word[:1]}_{word[1:]}{after}", "right": text}


def change_seconds(path: str, texts: Mapping[str, str], times: int) -> Iterator[tuple[float, int]]:
    """Seconds until a change is answered, and how many errors there are; a first one, which warms up, is left out."""
    worker = Worker()
    for number, text in zip(range(-1, times), cycle([texts["right"], texts["wrong"]]), strict=False):
        start = perf_counter()
        connection = worker.start(Request(path, on=BUILT_IN[0], text=text))
        stage = connection.recv()
        if number >= 0:
            yield perf_counter() - start, sum(bool(d.exit_code) for d in stage.diagnostics)
    worker.cancel()


def _solved_seconds(path: Path, text: str) -> float:
    worker, start = Worker(), perf_counter()
    connection = worker.start(Request(str(path), on=BUILT_IN[0], text=text))
    while connection.recv() is not None:
        pass
    return perf_counter() - start
