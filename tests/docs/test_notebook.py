# SPDX-License-Identifier: Apache-2.0
"""The notebook of the site runs from top to bottom, and shows what it gave."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import polyloom as pl
from polyloom.diagnostics import Diagnostic

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
_TIME = re.compile(r"[0-9.]+ (ms|s)\b")


def shown(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell shows: its last expression, in all forms that it has."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(source, names)
        return []
    exec(compile(ast.Module(tree.body[:-1], []), "<cell>", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    bundle = value._repr_mimebundle_() if hasattr(value, "_repr_mimebundle_") else {"text/plain": repr(value)}
    data = {kind: text.splitlines(keepends=True) for kind, text in sorted(bundle.items())}
    return [{"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}]


def timeless(value: Any) -> str:
    return _TIME.sub("T", json.dumps(value))


@pytest.mark.parametrize("folder", [ROOT, ROOT / "docs"], ids=["root", "docs"])
def test_the_notebook_shows_what_its_cells_give(
    folder: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opened where it lies, too."""
    monkeypatch.chdir(folder)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    wanted: list[Any] = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            wanted.append(cell["outputs"])
            cell["outputs"] = shown("".join(cell["source"]), names)
    found = [cell["outputs"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if pytestconfig.getoption("--update-golden"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return
    assert len(found) >= 4
    assert timeless(found) == timeless(wanted), "write `pytest tests/docs/test_notebook.py --update-golden`"


MISTAKES = {
    "a name": lambda: pl.compile("examples/matmul.pla", on="tpca"),
    "a file": lambda: pl.compile("nothing.pla"),
    "sizes": lambda: pl.compile("examples/matmul.pla").run(N=4),
    "an option": lambda: pl.compile("examples/matmul.pla", candidat=3),
    "an array": lambda: pl.compile("examples/fir.pla").run(N=4, T=2, u=[1]),
    "a program": lambda: pl.compile("many.pla"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_cell_is_a_few_lines(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What IPython shows in the place of a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    wrong = "".join(f"  y{n}[i] = nothing{n}(i)\n" for n in range(9))
    Path("many.pla").write_text(f"parameter N\noutput y[N]: i32\nfor 0 <= i < N do\n{wrong}", encoding="utf-8")
    with pytest.raises(pl.PolyloomError) as caught:
        MISTAKES[name]()
    lines = caught.value._render_traceback_()  # pyright: ignore[reportPrivateUsage]  # the name is IPython's
    whole = str(caught.value).split("\n")
    assert lines[0].startswith("error[PL") and all("\n" not in line for line in lines)
    assert lines == whole if len(whole) <= 8 else (len(lines) == 8 and lines[:7] == whole[:7])


def test_what_is_cut_of_a_mistake_is_told() -> None:
    error = pl.PolyloomError(*(Diagnostic("PL0211", f"number {n}", help="mend it") for n in range(6)))
    shown = error._render_traceback_()  # pyright: ignore[reportPrivateUsage]
    assert (len(shown), shown[-1]) == (8, "... and 5 more lines, which `print(error)` shows of a caught error")
