# SPDX-License-Identifier: Apache-2.0
"""The regression list of the public verification tests, and what their Makefiles say.

The list is a Python file of calls `t(name, folder, builds, ...)`, of which only the syntax tree is read. Tests of the
builds `neigh` and `cpu_ss_…` have one neighbourhood and memory, and no other device.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DIAGNOSTICS: Final = Path("dv", "tests", "minion_core", "c_asm_tests")
_LIST: Final = Path("dv", "tests", "minion_core", "regress_lists", "minion_diags.py")
_ONE_NEIGHBOURHOOD: Final = ("neigh", "cpu_ss_vl", "cpu_ss_vcs")
_DEFINE: Final = re.compile(r"^(EXTRA_CFLAGS|EXTRA_SRC|COMPILE_OPT)\s*[:+?]?=\s*(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Case:
    """Test of the list: the source's name, its folder, which minions and threads run, and options of the compiler."""

    name: str
    folder: str
    minions: int
    threads: int
    options: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        title = f"{self.folder}/{self.name} {self.minions:#x} {self.threads:#x}"
        return " ".join((title, *self.options))


@dataclass(frozen=True, slots=True)
class Build:
    """How a test's Makefile builds it: further sources, and options of the compiler."""

    sources: tuple[str, ...]
    options: tuple[str, ...]


def read_cases(root: Path) -> list[Case]:
    """Tests of one neighbourhood, each way in which the list runs them once."""
    tree = ast.parse((root / _LIST).read_text(encoding="utf-8"))
    strings = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = dict.fromkeys(case for node in tree.body for case in _call_cases(node, strings))
    return sorted(found, key=lambda case: case.title)


def _call_cases(node: ast.stmt, strings: dict[str, ast.expr]) -> Iterator[Case]:
    if not isinstance(node, ast.Expr) or not isinstance(call := node.value, ast.Call):
        return
    if not isinstance(call.func, ast.Name) or call.func.id != "t" or len(call.args) < 3:
        return
    builds = " ".join(_texts(call.args[2], strings)).split()
    given = {keyword.arg: "".join(_texts(keyword.value, strings)) for keyword in call.keywords}
    if any(build in _ONE_NEIGHBOURHOOD for build in builds):
        name, folder = ("".join(_texts(each, strings)) for each in call.args[:2])
        arguments = given.get("plusargs", "")
        options = tuple(re.findall(r"-D\w+(?:=\w+)?", given.get("diag_compile_opts", "")))
        yield Case(name, folder, _mask(arguments, "MINION"), _mask(arguments, "THREAD"), options)


def _texts(node: ast.expr, strings: dict[str, ast.expr]) -> Iterator[str]:
    """Strings of an expression, in their order; names stand for what was assigned to them."""
    if isinstance(node, ast.Name) and node.id in strings:
        yield from _texts(strings[node.id], strings)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _texts(child, strings)


def _mask(arguments: str, what: str) -> int:
    """Mask of minions or threads: by default only the first is started (minion_diags.py, head)."""
    found = re.findall(rf"\+{what}_MASK=0x([0-9A-Fa-f]+)", arguments)
    return int(found[-1], 16) & (0xFF if what == "MINION" else 3) if found else 1


def read_build(folder: Path) -> Build:
    """What a Makefile adds to include.mk."""
    path = folder / "Makefile"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    found = _DEFINE.findall(text)
    sources = (word for key, value in found if key == "EXTRA_SRC" for word in value.split())
    options = (word for key, value in found if key != "EXTRA_SRC" for word in value.split())
    # What names other folders by variables of `make` belongs to other devices.
    return Build(
        tuple(str(folder / word) for word in sources if "$" not in word),
        tuple(word.strip("'\"") for word in options if word.lstrip("'\"").startswith(("-D", "-O", "-fno"))),
    )
