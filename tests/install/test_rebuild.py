# SPDX-License-Identifier: Apache-2.0
"""What pip's isolated builds keep: each has its tools at another temporary path, and scikit-build-core then clears the
cache of CMake; nothing of that may change how a file is compiled, or what it is compiled to is compiled again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATOR = ROOT / "packaging" / "generate.py"


def _configured(build: Path, tools: Path) -> dict[str, str]:
    """The command that makes each object, with nanobind in a folder of tools."""
    cmake = shutil.which("cmake", path=str(Path(sys.executable).parent)) or "cmake"
    command = [cmake, "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    command += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={tools / 'nanobind' / 'cmake'}"]
    command += [f"-DCMAKE_MAKE_PROGRAM={Path(cmake).with_name('ninja')}"] if "/" in cmake else []
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {each["output"]: each["command"] for each in json.loads((build / "compile_commands.json").read_text())}


def test_another_isolated_build_compiles_nothing_again(tmp_path: Path) -> None:
    """As scikit_build_core.cmake does where its own path is new: CMakeCache.txt and CMakeFiles are removed."""
    build, (first, second) = tmp_path / "build", (tmp_path / "first", tmp_path / "second")
    spec = find_spec("nanobind")
    assert spec is not None and spec.origin is not None
    shutil.copytree(Path(spec.origin).parent, first / "nanobind", ignore=shutil.ignore_patterns("__pycache__"))
    before = _configured(build, first)
    times = {path: path.stat().st_mtime_ns for path in (build / "native" / "nanobind").rglob("*") if path.is_file()}
    shutil.copytree(first / "nanobind", second / "nanobind", copy_function=shutil.copy)  # times are new
    shutil.rmtree(first)
    (build / "CMakeCache.txt").unlink()
    shutil.rmtree(build / "CMakeFiles")
    assert _configured(build, second) == before
    assert len(before) > 50
    assert [output for output in before if output.startswith("CMakeFiles/")] == []
    assert len(times) > 50
    assert {path: path.stat().st_mtime_ns for path in times} == times


def test_headers_are_generated_by_the_standard_library_alone(tmp_path: Path) -> None:
    """Without site-packages, as CMake runs it; a second run leaves files whose text is the same."""
    command = [sys.executable, "-I", "-S", "-B", str(GENERATOR), str(tmp_path)]
    subprocess.run(command, check=True)
    made = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    members = ("wormhole.h", "blackhole.h", "config.h", "config_blackhole.h")
    headers = {f"include/tensix/tensix_{member}" for member in members}
    assert set(made) == {"riscv/table.hpp", "minion/packed_table.hpp", *headers}
    assert all(path.read_text(encoding="utf-8").startswith("// SPDX-License-Identifier") for path in made.values())
    changed = made["riscv/table.hpp"]
    text, times = changed.read_text(encoding="utf-8"), {p: p.stat().st_mtime_ns for p in made.values() if p != changed}
    changed.write_text("old", encoding="utf-8")
    subprocess.run(command, check=True)
    assert changed.read_text(encoding="utf-8") == text
    assert {path: path.stat().st_mtime_ns for path in times} == times
