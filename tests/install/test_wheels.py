# SPDX-License-Identifier: Apache-2.0
"""What packaging/wheels.py tells of a wheel; and what would keep one from being built, seen without building it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from polyloom.cli.entry import known_verbs

ROOT = Path(__file__).parents[2]
MACRO = re.compile(r"\bPy[A-Z]\w*_[A-Z][A-Z_]+\b")
"""A macro of CPython, such as PyBytes_AS_STRING, which the stable ABI lacks."""


def script() -> dict[str, Any]:
    path = ROOT / "packaging" / "wheels.py"
    names: dict[str, Any] = {"__file__": str(path), "__name__": "wheels"}
    exec(path.read_text(encoding="utf-8"), names)
    return names


def test_parts_of_a_wheel_are_all_its_bytes(tmp_path: Path) -> None:
    wheel = tmp_path / "polyloom-1.whl"
    names = ("__init__.py", "device/a.c", "examples/k.py", "_native/_all.so", "_native/tcpa.pyi", "machines/wide.toml")
    with ZipFile(wheel, "w") as packed:
        packed.mkdir("polyloom")
        packed.writestr("polyloom-1.dist-info/RECORD", "12345")
        for size, name in enumerate(names, start=1):
            packed.writestr(f"polyloom/{name}", size * "x")
    found = script()["parts"](wheel)
    rest = found.pop("names and offsets")
    known = {"Python": 6, "device": 2, "examples": 3, "native code": 4, "tables and headers": 6, "metadata": 5}
    assert (found, rest > 0) == (known, True)
    assert rest + sum(found.values()) == wheel.stat().st_size


def test_commands_that_are_tried_exist() -> None:
    commands = [command.split() for command in script()["_COMMANDS"]]
    assert {"run", "compare", "explore", "device"} <= {words[0] for words in commands} <= set(known_verbs())
    sources = [ROOT / word for words in commands for word in words if word.startswith("examples/")]
    assert len(sources) > 3
    assert all(map(Path.is_file, sources))


def test_bindings_use_no_macros_of_cpython() -> None:
    native = [path for path in (ROOT / "native").rglob("*") if path.suffix in (".cpp", ".hpp")]
    assert len(native) > 100
    used = {path.name: found for path in native if (found := MACRO.findall(path.read_text(encoding="utf-8")))}
    assert used == {}


def test_a_macro_would_be_seen() -> None:
    assert MACRO.findall("PyBytes_AS_STRING(a), PyBytes_AsString(b), Py_ssize_t") == ["PyBytes_AS_STRING"]
