# SPDX-License-Identifier: Apache-2.0
"""The import graph: every contract of pyproject.toml is broken on purpose and seen to fail; no circle of files; at most
twenty Python files in a folder.

import-linter has no contract without circles below the level of siblings, and none on the size of a folder.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, Final

import pytest
from grimp import ImportGraph, build_graph
from importlinter.application import use_cases
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.contracts.protected import ProtectedContract
from importlinter.domain.contract import Contract

from polyloom.analysis.components import components

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = ROOT / "src/polyloom"
TARGETS: Final = ("belt", "minion", "riscv", "tcpa", "tensix")
KINDS: Final[Mapping[str, type[Contract]]] = {
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
    "protected": ProtectedContract,
}
SMALL: Final = 20
LARGER: Final = {
    "analysis": 34,
    "cli": 36,
    "cli/bench": 44,
    "exploration": 23,
    "frontend/c": 26,
    "frontend/loops": 22,
    "ir": 55,
    "riscv/backend": 43,
    "transform": 38,
    "transform/ssa": 45,
}
"""Folders with more files than that, and how many. A number may fall and an entry may go; none may rise or come."""


def module_of(file: Path, root: Path) -> str:
    """The dotted name of a file below the package `root`."""
    parts = file.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """Every name that an import anywhere in a file may stand for: also below `TYPE_CHECKING` and in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.rsplit(".", node.level - 1)[0] if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def import_graph(root: Path) -> dict[str, set[str]]:
    """Which files import which, of a package; `from a import b` is an import of `a.b` where that is a file."""
    files = {module_of(file, root): file for file in sorted(root.rglob("*.py"))}
    graph: dict[str, set[str]] = {}
    for name, file in files.items():
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        found = {known for known in imported(ast.parse(file.read_text("utf-8")), package) if known in files}
        longer = {known.rpartition(".")[0] for known in found}
        graph[name] = {known for known in found if known not in longer} - {name}
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one file."""
    numbers = {name: number for number, name in enumerate(graph)}
    found = components({numbers[name]: sorted(map(numbers.__getitem__, graph[name])) for name in graph})
    names = list(graph)
    return sorted(sorted(names[number] for number in component) for component in found if len(component) > 1)


def test_files_import_each_other_in_no_circle() -> None:
    assert circles(import_graph(SOURCES)) == []


@pytest.mark.parametrize(
    "text",
    [
        "from p.q.b import x\n",
        "from p.q import b\n",
        "import p.q.b\n",
        "from . import b\n",
        "from .b import x\n",
        "from ..q import b\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.q.b import x\n",
        "def f():\n    from p.q.b import x\n",
        "class C:\n    def __reduce__(self):\n        from p.q import b\n",
    ],
)
def test_a_circle_is_found(tmp_path: Path, text: str) -> None:
    package = tmp_path / "p" / "q"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "a.py").write_text(text, encoding="utf-8")
    (package / "b.py").write_text("from p.q.c import y\n", encoding="utf-8")
    (package / "c.py").write_text("from p.q import a\n", encoding="utf-8")
    assert circles(import_graph(tmp_path / "p")) == [["p.q.a", "p.q.b", "p.q.c"]]
    (package / "c.py").write_text("import os\n", encoding="utf-8")
    assert circles(import_graph(tmp_path / "p")) == []


def large_folders(root: Path) -> dict[str, int]:
    """The folders with more than twenty Python files, and how many."""
    folders = {file.parent for file in root.rglob("*.py")}
    counts = {folder.relative_to(root).as_posix(): len(list(folder.glob("*.py"))) for folder in folders}
    return {folder: count for folder, count in sorted(counts.items()) if count > SMALL}


def test_folders_hold_at_most_twenty_files() -> None:
    """A folder that became smaller is entered above with its new number."""
    assert large_folders(SOURCES) == LARGER


def test_a_large_folder_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for number in range(SMALL):
        (tmp_path / "a" / f"f{number}.py").touch()
    assert large_folders(tmp_path) == {}
    (tmp_path / "a" / "__init__.py").touch()
    assert large_folders(tmp_path) == {"a": SMALL + 1}


@cache
def contracts() -> Mapping[str, Mapping[str, Any]]:
    """The options of every contract, by its name."""
    configure()
    options = use_cases.read_user_options(str(ROOT / "pyproject.toml"))
    found = {str(contract["name"]): contract for contract in options.contracts_options}
    assert len(found) == len(options.contracts_options)
    return found


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    return build_graph("polyloom", cache_dir=None)


def is_kept(contract: Mapping[str, Any], graph: ImportGraph) -> bool:
    """Whether a graph, which is changed, keeps a contract."""
    kind = KINDS[contract["type"]]
    made = kind(contract["name"], {"root_packages": ["polyloom"]}, dict(contract))
    return made.check(graph, verbose=False).kept


def layers_of(contract: Mapping[str, Any]) -> list[tuple[list[str], bool]]:
    """The layers of a contract, from the top: their names, and whether these must not import each other."""
    found: list[tuple[list[str], bool]] = []
    for layer in contract["layers"]:
        is_independent = "|" in layer
        names = [name.strip().strip("()") for name in layer.split("|" if is_independent else ":")]
        found.append((names, is_independent))
    return found


def forbidden_imports(contract: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Imports that a contract must refuse, at least one for each of its modules."""
    match contract["type"]:
        case "layers":
            layers = layers_of(contract)
            for container in contract["containers"]:
                for (above, _), (below, _) in pairwise(layers):
                    yield f"{container}.{below[0]}", f"{container}.{above[-1]}"
                for names, is_independent in layers:
                    pairs = permutations(names, 2) if is_independent else ()
                    yield from ((f"{container}.{a}", f"{container}.{b}") for a, b in pairs)
        case "protected":
            yield from (("polyloom.run", module) for module in contract["protected_modules"])
            yield from (("polyloom.cli", module) for module in contract["protected_modules"])
        case other:
            raise AssertionError(f"write here which imports a contract of type {other} refuses")


def with_import(graph: ImportGraph, importer: str, imported: str) -> ImportGraph:
    """A copy of a graph with one import more."""
    made = deepcopy(graph)
    assert {importer, imported} <= made.modules
    made.add_import(importer=importer, imported=imported, line_number=1, line_contents=f"import {imported}")
    return made


@pytest.mark.parametrize("name", contracts())
def test_a_contract_is_kept_and_can_be_broken(name: str, graph: ImportGraph) -> None:
    contract = contracts()[name]
    assert is_kept(contract, with_import(graph, "polyloom.cli", "polyloom.version"))
    planted = list(forbidden_imports(contract))
    assert planted
    assert [pair for pair in planted if is_kept(contract, with_import(graph, *pair))] == []


def test_every_target_has_layers() -> None:
    """A model may not look at the compiler's data, nor the compiler at what a run observed."""
    lacking = {name for name in TARGETS if f"Inside {name}" not in contracts()}
    assert not {name for name in lacking if (SOURCES / "targets" / name / "map").is_dir()}
    for name in set(TARGETS) - lacking:
        if (SOURCES / "targets" / name / "map").is_dir():
            assert any(
                {"map", "run"} <= {*names} and apart for names, apart in layers_of(contracts()[f"Inside {name}"])
            )
