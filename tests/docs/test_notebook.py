# SPDX-License-Identifier: Apache-2.0
"""The notebook of the site runs from top to bottom, and shows what it gave."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

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


def test_the_notebook_shows_what_its_cells_give(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
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
