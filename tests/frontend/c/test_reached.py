# SPDX-License-Identifier: Apache-2.0
"""A bad function does not keep the others of its file from being compiled, on any machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polyloom as pl
from polyloom.frontend.c.reachable_functions import stub_unreachable
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")
GOOD = """
static int one(void) { return 1; }
void good(int n, int a[n]) {
    for (int i = 0; i < n; i++)
        a[i] = a[i] + ONE;
}
"""
BAD = {
    "name": "void bad(int n, int a[n]) { for (int i = 0; i < n; i++) a[i] = nonsense + 1; }",
    "syntax": "int bad(int x) { return x + ; }",
    "type": "struct s { int a; };\nstatic int bad(struct s v) /* { */ { return v + 1; }\n"
    "int also(struct s v) { return bad(v); }",
    "text": "#define BRACE {\nconst char *text = \"}{\";\nint bad(int x) { return x \\\n + '}' + nonsense; // {\n}",
    "width": "__int128 bad(__int128 a) { return a / nonsense; }",
    "table": "int bad(int x) { return nonsense; }\nint (*table[])(int) = {bad};",
}
CHOSEN = Options(function="good")
PLACES = ("tcpa:1x1", "riscv", "belt", "minion:1")


@pytest.mark.parametrize("on", PLACES)
@pytest.mark.parametrize("bad", BAD)
def test_only_what_is_reached_is_compiled(on: str, bad: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(BAD[bad] + GOOD.replace("ONE", "1"))
    a = np.arange(3, dtype=np.int32)
    result = pl.compile(str(path), on=on, options=CHOSEN).run(n=3, a=a.copy())
    assert result.verdict == "equal bits" and result.outputs["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("on", PLACES)
def test_what_is_reached_is_refused_at_its_own_line(on: str, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(f"{BAD['syntax']}\nint through(int x) {{ return bad(x); }}\n{GOOD.replace('ONE', 'through(1)')}")
    with pytest.raises(pl.PolyloomError) as error:
        pl.compile(str(path), on=on, options=CHOSEN)
    found = error.value.diagnostics[0]
    assert found.code == "PL0151" and found.span is not None and found.span.line == 1


def test_lines_stay_where_they_are(tmp_path: Path) -> None:
    text = BAD["text"] + GOOD
    path = tmp_path / "f.c"
    path.write_text(text)
    found = stub_unreachable(str(path), "good")
    assert found is not None and found.count("\n") == text.count("\n")
    assert "nonsense" not in found and "one" not in found and 'text = "}{"' in found
    assert found.split("\n")[-4:] == text.split("\n")[-4:]
