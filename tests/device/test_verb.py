# SPDX-License-Identifier: Apache-2.0
"""`polyloom device`: what it prints builds, by hand and with CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.device.devices import LIBRARY

from polyloom.cli.entry import main

SOURCE = """#include "polyloom_plan.h"
int main(void) { return polyloom_walk_query == 0; }
"""
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(firmware LANGUAGES C)
find_package(polyloom_device REQUIRED PATHS {folder} NO_DEFAULT_PATH)
add_executable(firmware main.c)
target_link_libraries(firmware polyloom::device)
"""


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["device", *words]) == 0
    return capsys.readouterr().out.rstrip("\n")


def test_it_says_where_everything_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert Path(printed(capsys, "--include")) == Path(printed(capsys, "--cmake")) == LIBRARY
    sources = printed(capsys, "--sources").splitlines()
    assert sources == sorted(map(str, LIBRARY.glob("*.c")))
    assert printed(capsys).startswith(f"{LIBRARY}: polyloom_instantiate.h")


def test_headers_compile_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler `cc`")
    (tmp_path / "main.c").write_text(SOURCE)
    command = [compiler, "-std=c11", "-pedantic-errors", "-fsyntax-only", f"-I{printed(capsys, '--include')}", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_cmake_finds_the_library(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    cmake = shutil.which("cmake", path=tools)
    if cmake is None or shutil.which("cc") is None:
        pytest.skip("CMake, or a C compiler, is not installed")
    (tmp_path / "main.c").write_text(SOURCE)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.format(folder=printed(capsys, "--cmake")))
    environment = {**os.environ, "PATH": tools}
    for command in (["-S", ".", "-B", "build", "-G", "Ninja"], ["--build", "build"]):
        subprocess.run([cmake, *command], cwd=tmp_path, check=True, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run([str(tmp_path / "build" / "firmware")], check=True)
