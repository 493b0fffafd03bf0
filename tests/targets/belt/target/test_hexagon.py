# SPDX-License-Identifier: Apache-2.0
"""The peer of `bench hexagon`: what clang emits and what its pipeliner refuses come of one compilation per file."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from polyloom.cli.bench import hexagon_code

SOURCE = """
int dot(int n, const int *restrict a) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
int calls(int n, int (*f)(int)) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += f(i);
    return s;
}
"""


def test_a_file_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    calls: list[str] = []
    run: Any = subprocess.run

    def counted(*words: Any, **how: Any) -> Any:
        calls.append(str(words))
        return run(*words, **how)

    monkeypatch.setattr(subprocess, "run", counted)
    path = tmp_path / "two.c"
    path.write_text(SOURCE, encoding="utf-8")
    for _ in range(2):
        assert hexagon_code.emitted_code(path)["dot"].kernels
        assert hexagon_code.refused_lines(path) == {5}
    assert len(calls) == 1
