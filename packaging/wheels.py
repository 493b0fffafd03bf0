# SPDX-License-Identifier: Apache-2.0
"""Wheels for Linux without a container, and for macOS on macOS: `make wheels`.

For each Python given, one wheel per architecture: of the stable ABI (cp312-abi3) from Python 3.12 on, of that version
alone before. On Linux zig's clang compiles against glibc 2.17 for either architecture, with the C++ library inside;
auditwheel checks and names the result (manylinux2014), abi3audit that nothing outside of the stable ABI is used.

    python packaging/wheels.py build python3.11 python3.12     into build/wheels/dist; ARCHITECTURES="x86_64" for one
    python packaging/wheels.py try python3.11 python3.13       each in an empty environment, with a few commands
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

ROOT: Final = Path(__file__).resolve().parents[1]
WORK: Final = ROOT / "build" / "wheels"
DIST: Final = WORK / "dist"
GOAL: Final = 1_300_000
"""Bytes that a wheel should not exceed; docs/numbers.md says why it does."""
_COMMANDS: Final = (
    "run examples/kernels/gemm.py NI=20 NJ=25 NK=30 --on tcpa:4x4 --report page.html",
    "compare examples/kernels/gemm.py NI=4 NJ=4 NK=4 --on tcpa:2x2,minion:2",
    "explore examples/matmul.pla N=8 M=8 K=8 --sweep pes=1x1..2x2 --on tcpa:unit",
    "compile examples/matmul.pla --on tcpa:unit -o matmul.plsc",
    "verify matmul.plsc --against examples/matmul.pla N=2 M=2 K=2",
    "device --include",
    "doctor",
)
_FLAGS: Final = "-ffunction-sections -fdata-sections"
_CXX_FLAGS: Final = f"{_FLAGS} -include cstdio"
"""nanobind's headers use `stderr`, which zig's C++ library declares nowhere else."""
_MACOS: Final = "11.0"
"""The first on ARM. Without it, a wheel is for the system that made it, and Python's own target lacks much of C++20."""
_LINK: Final = "-Wl,--gc-sections -Wl,-s -Wl,--version-script={}"


def run(*command: str | Path, cwd: Path = ROOT, own: Mapping[str, str] | None = None) -> str:
    """Standard output of a command, which is printed where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env={**os.environ, **(own or {})}, capture_output=True, text=True, cwd=cwd)
    if done.returncode:
        sys.exit(f"$ {' '.join(map(quote, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(python: str, name: str, *packages: str) -> Path:
    """The Python of an environment of its own with these packages."""
    folder = WORK / f"{name}-{Path(python).name}"
    if not (folder / "bin" / "python").exists():
        run(python, "-m", "venv", folder)
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--upgrade", "pip>=25.1")
    if packages:
        run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages)
    return folder / "bin" / "python"


def compiler(python: Path, language: str, architecture: str) -> Path:
    """A command that is zig's compiler for an architecture."""
    made = WORK / "bin" / f"{language}-{architecture}-{python.parents[1].name}"
    made.parent.mkdir(parents=True, exist_ok=True)
    target = f"-target {architecture}-linux-gnu.2.17" if language in ("cc", "c++") else ""
    made.write_text(f'#!/bin/sh\nexec {quote(str(python))} -m ziglang {language} {target} "$@"\n', encoding="utf-8")
    made.chmod(0o755)
    return made


def settings(python: Path, architecture: str) -> Iterator[str]:
    """What scikit-build-core is told for Linux."""
    exported = WORK / "exported"
    exported.write_text("{ global: PyInit__all; local: *; };\n", encoding="utf-8")
    defined = {
        "CMAKE_C_COMPILER": compiler(python, "cc", architecture),
        "CMAKE_CXX_COMPILER": compiler(python, "c++", architecture),
        "CMAKE_AR": compiler(python, "ar", architecture),
        "CMAKE_RANLIB": compiler(python, "ranlib", architecture),
        "CMAKE_C_FLAGS": _FLAGS,
        "CMAKE_CXX_FLAGS": _CXX_FLAGS,
        "CMAKE_MODULE_LINKER_FLAGS": _LINK.format(exported),
    }
    yield from (f"--config-settings=cmake.define.{name}={value}" for name, value in defined.items())
    yield "--config-settings=install.strip=false"


def build(name: str) -> list[Path]:
    """The wheels of one Python."""
    python = environment(name, "make")
    run(python, "-m", "pip", "install", "--quiet", "--group", f"{ROOT / 'pyproject.toml'}:wheels")
    linux = sys.platform == "linux"
    architectures = os.environ.get("ARCHITECTURES", "x86_64 aarch64").split() if linux else [""]
    return [_wheel(python, architecture, linux) for architecture in architectures]


def _wheel(python: Path, architecture: str, linux: bool) -> Path:
    raw = WORK / "raw" / f"{python.parents[1].name}-{architecture}"
    common = (
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        f"--wheel-dir={raw}",
        f"--config-settings=build-dir={raw}/build",
    )
    path = os.pathsep.join((str(python.parent), os.environ["PATH"]))
    if not linux:
        run(python, "-m", "pip", "wheel", *common, ".", own={"PATH": path, "MACOSX_DEPLOYMENT_TARGET": _MACOS})
        (made,) = raw.glob("*.whl")
        return _audited(python, made)
    version = run(python, "-c", "import sys; print('%d%d' % sys.version_info[:2])").strip()
    own = {
        "PATH": path,
        "_PYTHON_HOST_PLATFORM": f"linux-{architecture}",
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{version}-{architecture}-linux-gnu.so",
    }
    run(python, "-m", "pip", "wheel", *common, *settings(python, architecture), ".", own=own)
    (made,) = raw.glob("*.whl")
    names = run(python, "-m", "wheel", "tags", "--platform-tag", f"linux_{architecture}", "--remove", made)
    tagged = raw / names.split()[-1]
    repair = (python, "-m", "auditwheel", "repair", "--plat", f"manylinux2014_{architecture}", "-w", raw / "done")
    run(*repair, tagged, own={"PATH": path})
    (done,) = (raw / "done").glob("*.whl")
    tagged.unlink()
    return _audited(python, done)


def _audited(python: Path, wheel: Path) -> Path:
    """The wheel, where it is kept."""
    if "abi3" in wheel.name:
        run(python, "-m", "abi3audit", "--strict", wheel)
    DIST.mkdir(parents=True, exist_ok=True)
    return wheel.rename(DIST / wheel.name)


def fitting(name: str) -> Path:
    """The wheel that a Python takes on this machine."""
    version = run(name, "-c", "import sys; print('%d%d' % sys.version_info[:2])").strip()
    tags = ("abi3",) if int(version) >= 312 else (f"cp{version}-cp{version}",)
    found = [w for w in sorted(DIST.glob("*.whl")) if platform.machine() in w.name and any(t in w.name for t in tags)]
    if len(found) != 1:
        sys.exit(f"{len(found)} wheels of {DIST} are for {name} on {platform.machine()}: write `make wheels` first")
    return found[0]


def tried(name: str) -> Iterator[str]:
    """Commands from a wheel in an empty environment, and the first line that each prints."""
    wheel = fitting(name)
    python = environment(name, "try")
    run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", wheel)
    where = run(python, "-c", "import polyloom; print(polyloom.__path__[0])").strip()
    with TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(Path(where) / "examples")
        for command in _COMMANDS:
            printed = run(python.parent / "polyloom", *command.split(), cwd=Path(folder))
            yield f"{command}: {printed.splitlines()[0]}"


def parts(wheel: Path) -> dict[str, int]:
    """Of what a wheel's bytes are."""
    found = Counter[str]()
    with ZipFile(wheel) as packed:
        for member in packed.infolist():
            found[_part(PurePosixPath(member.filename))] += member.compress_size
    return {**found, "names and offsets": wheel.stat().st_size - found.total()}


def _part(path: PurePosixPath) -> str:
    if path.parts[0].endswith(".dist-info"):
        return "metadata"
    if (folder := "".join(path.parts[1:2])) in ("device", "examples"):
        return folder
    return {".py": "Python", ".pyi": "Python", ".so": "native code"}.get(path.suffix, "tables and headers")


def main(words: Sequence[str]) -> None:
    verb, *pythons = words
    for name in pythons:
        if verb == "try":
            for line in tried(name):
                print(f"{name}: {line}", flush=True)
            continue
        for wheel in build(name):
            of = ", ".join(f"{what} {size}" for what, size in sorted(parts(wheel).items(), key=lambda p: -p[1]))
            print(f"{wheel.name}: {wheel.stat().st_size} bytes (goal {GOAL}): {of}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
