# SPDX-License-Identifier: Apache-2.0
"""Small hosts: a target of the compiler in the `ziglang` wheel, and the program of QEMU that runs its executables.

Executables are freestanding and static, with the compiler's own arithmetic helpers; they are built below
`build/device`, where the compiler also keeps its caches. `examples/firmware` has the board that they run on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIBRARY: Final = ROOT / "native" / "instantiate"
FIRMWARE: Final = ROOT / "examples" / "firmware"
HARNESS: Final = ROOT / "tests" / "device" / "harness.c"
BUILD: Final = ROOT / "build" / "device"
_FLAGS: Final = (
    *("-std=c11", "-ffreestanding", "-Os", "-g", "-Wall", "-Wextra", "-Werror"),
    *("-ffunction-sections", "-fdata-sections", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"),
)
_LINK: Final = ("-Wl,--gc-sections", "-Wl,-e,_start")


@dataclass(frozen=True, slots=True)
class Device:
    """`name` is QEMU's name of the architecture; `target`, `cpu` and `options` are the compiler's, whose runtime lacks
    `helpers`."""

    name: str
    target: str
    cpu: str
    options: tuple[str, ...] = ()
    helpers: tuple[Path, ...] = ()

    @property
    def emulator(self) -> str:
        return f"qemu-{self.name}"


# Linkers shorten the calls of RISC-V only where they are told that they may (`relax`); other toolchains tell them by
# themselves. A function that ends in a jump to another one cannot use the routines of `-msave-restore`.
SMALL: Final = ("-DPOLYLOOM_INT32", "-msave-restore", "-fno-optimize-sibling-calls")
RV32: Final = Device(
    "riscv32", "riscv32-freestanding", "generic_rv32+m+a+c+relax", SMALL, (FIRMWARE / "save_restore.S",)
)
DEVICES: Final = (
    RV32,
    Device("riscv64", "riscv64-freestanding", "generic_rv64+m+a+c+relax"),
    Device("aarch64", "aarch64-freestanding", "generic"),
    Device("mips", "mips-freestanding", "mips32r2+soft_float"),
)


def missing(device: Device) -> str | None:
    """What a run on `device` lacks on this machine."""
    if find_spec("ziglang") is None:
        return "nothing is cross-compiled without ziglang (extra `c`)"
    return None if shutil.which(device.emulator) else f"{device.emulator} is not installed (Debian package `qemu-user`)"


def caches() -> dict[str, str]:
    """The environment in which the compiler keeps all that it stores in one folder."""
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(BUILD / "cache"), "ZIG_LOCAL_CACHE_DIR": str(BUILD / "cache")}


def build(device: Device, name: str, sources: Iterable[Path]) -> Path:
    """An executable of `sources`, the library and the board."""
    folder = BUILD / device.name
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{name}-{os.getpid()}"
    files = map(str, (*sources, FIRMWARE / "board_linux.c", *device.helpers, *sorted(LIBRARY.glob("*.c"))))
    includes = (f"-I{LIBRARY}", f"-I{FIRMWARE}")
    compiler = (sys.executable, "-m", "ziglang", "cc", "-target", device.target, f"-mcpu={device.cpu}")
    subprocess.run(
        [*compiler, *_FLAGS, *device.options, *includes, *files, *_LINK, "-o", str(made)], check=True, env=caches()
    )
    return made.replace(folder / name)


def run(device: Device, program: Path, given: bytes) -> bytes:
    """What `program` writes when it reads `given`. Raises CalledProcessError where it stops with an error."""
    return subprocess.run(
        [device.emulator, str(program)], input=given, stdout=subprocess.PIPE, check=True, timeout=300
    ).stdout
