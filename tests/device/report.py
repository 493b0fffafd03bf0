# SPDX-License-Identifier: Apache-2.0
"""What the library costs on small hosts, as text: `python -m tests.device.report`, or `make device`.

Text is code and constants with -Os, all calls of the library without the texts of errors; the compiler's helpers are
its own, by name. Scratch is the library's high-water mark, stack that of a painted area, from the caller's frame on.
Instructions are those of a program that does nothing but one instantiation, helpers included, counted by native/riscv;
a test compares its count with QEMU's.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.device.cases import Answer, Case, answers
from tests.device.devices import BUILD, DEVICES, HARNESS, Device, build, missing, run
from tests.device.elf import Elf

from polyloom.cli.answer import table
from polyloom.cli.bench.regions import EXTENTS, bounds, loop
from polyloom.riscv import image, names
from polyloom.riscv.model import Machine

Row = dict[str, object]
_MEMORY: Final = ("memcpy", "memmove", "memset", "memcmp")
_RISCV: Final = {"riscv32": "rv32imac", "riscv64": "rv64imac"}
SMALL: Final = {"bits": (1, 16)}
LARGE: Final = {"bits": (1, 32)}


def text(device: Device) -> tuple[int, dict[str, int]]:
    """Bytes of the library, and of every helper of the compiler that it needs."""
    full, empty = (
        Elf(build(device, name, [HARNESS.with_name(f"{name}.c")]).read_bytes()) for name in ("probe", "empty")
    )
    helpers = {name: size for name, (_, size) in full.functions().items() if name in _MEMORY or name.startswith("__")}
    return full.text() - empty.text() - sum(helpers.values()), helpers


def program(device: Device, case: Case) -> Path:
    """One instantiation, without any input."""
    rows, columns = case.region
    request = BUILD / device.name / "request.c"
    request.parent.mkdir(parents=True, exist_ok=True)
    request.write_text(f"""
        #include "polyloom_instantiate.h"
        static const uint8_t file[] = {{{", ".join(map(str, case.file))}}};
        static const int64_t values[] = {{{", ".join(map(str, case.values))}}};
        polyloom_request request = {{
            .symbolic = file, .symbolic_size = sizeof file,
            .values = values, .value_count = sizeof values / sizeof *values,
            .rows = {rows}, .columns = {columns}, .candidate = POLYLOOM_ALL}};
    """)
    return build(device, "counted", [HARNESS.with_name("counted.c"), request])


def instructions(executable: Path, isa: str) -> int:
    """How many our own interpreter executes."""
    done = Machine(image.elf_image(executable.read_bytes(), names.parse_isa(isa))).run()
    assert done.exit_code == 0
    return done.instructions


def instructions_of_qemu(device: Device, executable: Path) -> int:
    """How many QEMU executes: it logs every one of them."""
    command = (device.emulator, "-singlestep", "-d", "exec,nochain", str(executable))
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        return sum(line.startswith(b"Trace") for line in process.stderr)


def case(kernel: str, region: tuple[int, int], *, perfect: bool) -> Case:
    """An instantiation of `polyloom bench instantiation`."""
    made, values = loop(kernel), bounds(kernel, region, perfect=perfect)
    return Case(kernel, made.data, tuple(values[p] for p in made.symbolic.parameters), region)


def sizes(device: Device) -> Row:
    library, helpers = text(device)
    listed = ", ".join(f"{name} {size}" for name, size in sorted(helpers.items()))
    return {"host": device.name, "library": library, "helpers": sum(helpers.values()), "of them": listed}


def memory(device: Device, kernel: str) -> Row:
    small, large = worst(device, kernel, SMALL.get(kernel, (4, 4))), worst(device, kernel, LARGE.get(kernel, (32, 32)))
    asked = case(kernel, SMALL.get(kernel, (4, 4)), perfect=False)
    isa = _RISCV.get(device.name)
    return {
        "host": device.name,
        "kernel": kernel,
        "scratch": small.scratch,
        "stack": small.stack,
        "scratch 32x32": large.scratch,
        "stack 32x32": large.stack,
        "instructions": instructions(program(device, asked), isa) if isa else None,
    }


def worst(device: Device, kernel: str, region: tuple[int, int]) -> Answer:
    """Of perfect and imperfect tilings, the one that takes more memory."""
    asked = [case(kernel, region, perfect=perfect) for perfect in (True, False)]
    given = list(answers(run(device, harness(device), b"".join(c.message() for c in asked))))
    assert all(a.outcome.status == 0 for a in given)
    return max(given, key=lambda a: a.scratch + a.stack)


@cache
def harness(device: Device) -> Path:
    return build(device, "harness", [HARNESS])


def tables() -> Iterator[str]:
    yield table([sizes(device) for device in DEVICES])
    yield table([memory(device, kernel) for kernel in EXTENTS for device in DEVICES])


def main() -> int:
    lacking = next(filter(None, map(missing, DEVICES)), None)
    print(lacking or "\n\n".join(tables()))
    return int(lacking is not None)


if __name__ == "__main__":
    sys.exit(main())
