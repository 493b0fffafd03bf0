# SPDX-License-Identifier: Apache-2.0
"""Every folder of `native/` with a binding is a module of `polyloom._native`, and its stub says what is in it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent.name for path in ROOT.glob("native/*/bind.cpp"))
STUBS = ROOT / "src" / "polyloom" / "_native"
_EXCEPTION = {"add_note", "args", "with_traceback"}


def declared(stub: str) -> dict[str, set[str]]:
    """Names that a stub declares: functions, constants, and classes, these with their members."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(stub).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = set()
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not _is_typed_dict(node):
            members = node.body if isinstance(node, ast.ClassDef) else []
            functions = {m.name for m in members if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")}
            fields = {m.target.id for m in members if isinstance(m, ast.AnnAssign) and isinstance(m.target, ast.Name)}
            found[node.name] = functions | fields - _EXCEPTION
    return found


def _is_typed_dict(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """A class of the stub alone: the module gives plain dictionaries with these keys."""
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    return any(isinstance(base, ast.Name) and base.id == "TypedDict" for base in bases)


def offered(module: ModuleType) -> dict[str, set[str]]:
    """The same of a module, without what Python gives every class."""
    public = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {
        name: {m for m in dir(value) if not m.startswith("_")} - _EXCEPTION if isinstance(value, type) else set[str]()
        for name, value in public.items()
    }


def test_each_binding_has_a_stub() -> None:
    assert sorted(path.stem for path in STUBS.glob("*.pyi")) == FOLDERS


@pytest.mark.parametrize("name", FOLDERS)
def test_the_stub_is_what_the_module_offers(name: str) -> None:
    stub = declared((STUBS / f"{name}.pyi").read_text(encoding="utf-8"))
    module = offered(importlib.import_module(f"polyloom._native.{name}"))
    assert module
    assert stub == module


def test_a_stub_that_lacks_a_member_is_seen() -> None:
    module = ModuleType("m")
    vars(module)["C"] = type("C", (), {"f": None, "_g": None})
    assert offered(module) == {"C": {"f"}}
    assert declared("class C:\n    f: int\n    def g(self) -> None: ...\ndef h() -> None: ...") == {
        "C": {"f", "g"},
        "h": set(),
    }
