# SPDX-License-Identifier: Apache-2.0
"""What the library costs on small hosts, as text: `python -m tests.device.report`, or `make device`.

Text is code and constants with -Os, all calls of the library without the texts of errors; the compiler's helpers are its own, by name.
Scratch is the library's high-water mark, stack that of a painted area, from the caller's frame on. Instructions are those between
the call of `polyloom_instantiate` and its return, helpers included, counted by QEMU, which logs every one of them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Final

from tests.device.cases import Answer, Case, answers
from tests.device.devices import DEVICES, HARNESS, Device, build, missing, run
from tests.device.elf import Elf

from polyloom.cli.answer import table
from polyloom.cli.bench.regions import EXTENTS, bounds, loop

Row = dict[str, object]
_MEMORY: Final = ("memcpy", "memmove", "memset", "memcmp")
_SMALL: Final = {"bits": (1, 16)}
_LARGE: Final = {"bits": (1, 32)}


def text(device: Device) -> tuple[int, dict[str, int]]:
    """Bytes of the library, and of every helper of the compiler that it needs."""
    full, empty = (Elf(build(device, name, [HARNESS.with_name(f"{name}.c")]).read_bytes()) for name in ("probe", "empty"))
    helpers = {name: size for name, (_, size) in full.functions().items() if name in _MEMORY or name.startswith("__")}
    return full.text() - empty.text() - sum(helpers.values()), helpers


def instructions(device: Device, program: Path, given: bytes, first: str, last: str) -> int:
    """How many QEMU executes from the first one of the function `first` on, up to the next one of the function `last`."""
    command = (device.emulator, "-singlestep", "-d", "exec,nochain", str(program))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(given)
        process.stdin.close()
        begins, ends = f" {first}\n".encode(), f" {last}\n".encode()
        skipped = any(line.endswith(begins) for line in process.stderr)
        count = 1 + sum(1 for _ in takewhile(lambda line: not line.endswith(ends), process.stderr))
        process.kill()
    assert skipped
    return count


def case(kernel: str, region: tuple[int, int], *, perfect: bool) -> Case:
    """An instantiation of `polyloom bench instantiation`."""
    made, values = loop(kernel), bounds(kernel, region, perfect=perfect)
    return Case(kernel, made.data, tuple(values[p] for p in made.symbolic.parameters), region)


def sizes(device: Device) -> Row:
    library, helpers = text(device)
    listed = ", ".join(f"{name} {size}" for name, size in sorted(helpers.items()))
    return {"host": device.name, "library": library, "helpers": sum(helpers.values()), "of them": listed}


def memory(device: Device, kernel: str) -> Row:
    small, large = (_worst(device, kernel, regions.get(kernel, square)) for regions, square in ((_SMALL, (4, 4)), (_LARGE, (32, 32))))
    asked = case(kernel, _SMALL.get(kernel, (4, 4)), perfect=False)
    count = instructions(device, harness(device), asked.message(), "polyloom_instantiate", "measured")
    return {
        "host": device.name,
        "kernel": kernel,
        "scratch": small.scratch,
        "stack": small.stack,
        "scratch 32x32": large.scratch,
        "stack 32x32": large.stack,
        "instructions": count,
    }


def _worst(device: Device, kernel: str, region: tuple[int, int]) -> Answer:
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
