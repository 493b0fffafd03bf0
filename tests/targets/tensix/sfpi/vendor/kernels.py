# SPDX-License-Identifier: Apache-2.0
"""`make kernels`: the vendor's Wormhole kernels, unchanged, from C++ to checked outputs.

Each instance of the list is compiled, run on a tile and compared with the interpreter, bit for bit; hazards fail it. A
header counts where all of its instances run. Those of macros.txt are built with macros and without, which must leave
the same Dst. The exit code is 1 where the lists and what was found differ.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final, Literal, cast

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.sfpi.vendor.instances import KINDS, LIST, MACROS, Instance, instances
from tests.targets.tensix.sfpi.vendor.wheel import header, includes, unpacked

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.kernel import compile_kernel, read_note
from polyloom.targets.tensix.kernel_form import Kernel
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.run.reference import BITS, Reference
from polyloom.targets.tensix.source.cpp.source import load_kernel

NEEDED: Final = {"pure": 95, "mixed": 14}
"""Headers of each kind that must run."""
SECONDS: Final = 2.0
UNIT: Final = """\
#include "ckernel_sfpu.h"
#include "cmath_common.h"
using namespace ckernel;
using namespace sfpi;
#include "{header}"
using namespace ckernel::sfpu;
"""
_DEFINES: Final = ("APPROX=false", "DISABLE_SFPLOADMACRO=1")
"""Definitions of a build of the vendor, whose own switch leaves out macros of the vector unit."""
SHIPPED: Final = _DEFINES[:1]


@dataclass(frozen=True, slots=True)
class Found:
    """`error` is what went wrong, or None; `words` that the program has, `seconds` that compiling took."""

    instance: Instance
    error: str | None
    words: int = 0
    seconds: float = 0.0
    dst: tuple[NDArray[Any], NDArray[Any]] | None = None
    """Dst as the interpreter has it, and where it is known."""


def measured(instance: Instance, folder: Path, build: tuple[str, ...] = _DEFINES) -> Found:
    """Compiles, runs and compares an instance."""
    with TemporaryDirectory() as place:
        unit = Path(place, "unit.h")
        unit.write_text(UNIT.format(header=header(folder, instance.group, instance.header)))
        start = perf_counter()
        try:
            defines = (*build, *([f"{instance.define}=1"] if instance.define else []))
            forms = load_kernel(str(unit), instance.function, instance.init, defines, includes(folder))
            per: Literal["tile", "face"] = "tile" if "tile" in instance.marks else "face"
            options = Options(dest=instance.dest, per=per)
            data = compile_kernel(Kernel(forms.function, forms.init), instance.function, "wormhole", options)
            seconds = perf_counter() - start
            error, dst = _compared(forms.function, forms.init, data, instance)
            return Found(instance, error, len(data) // 4, seconds, dst)
        except PolyloomError as error:
            return Found(instance, _reason(error), seconds=perf_counter() - start)
        except Exception as error:  # what is internal is found out here, too
            return Found(instance, f"{type(error).__name__} {error}"[:200], seconds=perf_counter() - start)


def _reason(error: PolyloomError) -> str:
    first = error.diagnostics[0]
    where = f", {Path(first.span.source.name).name} line {first.span.line}" if first.span else ""
    return f"{first.code} {first.message}{where}"


def _compared(
    function: Any, init: Any, data: bytes, instance: Instance
) -> tuple[str | None, tuple[NDArray[Any], NDArray[Any]]]:
    form = "uint16" if "uint16" in instance.marks else "fp32" if instance.dest == 32 else "bf16"
    inputs = {f"dst:{form}": tiles(instance)}
    # What reads too early is known to differ, and is not asked.
    hazards = "off" if "early" in instance.marks else "error"
    note = read_note(data)
    ran = kernel_run.run(data, note, inputs, hazards=hazards)
    reference = Reference(function, init, "wormhole", instance.dest, cast(Literal["tile", "face"], note.per))
    expected = reference.outputs({}, inputs)[BITS]
    assert reference.known is not None
    known = reference.known.astype(bool)
    differing = np.count_nonzero((ran.tile.dst != expected) & known)
    return f"{differing} datums differ" if differing else None, (expected, known)


def both_ways(instance: Instance, folder: Path) -> tuple[Instance, str | None]:
    """The shipping build and the one without macros: an error of either, or how many datums of Dst differ."""
    ships, plain = measured(instance, folder, SHIPPED), measured(instance, folder)
    if ships.error or ships.dst is None:
        return instance, f"with macros: {ships.error}"
    if plain.dst is None or (plain.error and "early" not in instance.marks):
        return instance, f"without macros: {plain.error}"
    (one, known), (other, also) = ships.dst, plain.dst
    rows = slice(None, None, 4 if "first row" in instance.marks else 1)
    differing = np.count_nonzero(((one != other) & known & also)[rows])
    return instance, f"{differing} datums differ between the builds" if differing else None


def tiles(instance: Instance) -> NDArray[Any]:
    """Eight tiles of numbers, small integers' bits for kernels of integers."""
    random = np.random.default_rng(7)
    if "uint16" in instance.marks:
        return random.integers(0, 1 << 8, (8, 32, 32)).astype(np.uint16)
    if instance.dest == 32 and "nt" in instance.function:
        return random.integers(0, 1000, (8, 32, 32)).astype(np.uint32)
    return random.uniform(-4, 4, (8, 32, 32)).astype(np.float32)


def main(arguments: Sequence[str]) -> int:
    folder = unpacked(Path(arguments[0]).resolve())
    chosen = [i for i in instances(LIST.read_text()) if len(arguments) == 1 or arguments[1] in i.name]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(measured, chosen, repeat(folder), chunksize=4))
        macros = [i for i in instances(MACROS.read_text()) if len(arguments) == 1 or arguments[1] in i.name]
        ships = list(pool.map(both_ways, macros, repeat(folder), chunksize=4))
    headers: dict[tuple[str, str, str], list[Found]] = defaultdict(list)
    for each in found:
        headers[each.instance.kind, each.instance.group, each.instance.header].append(each)
        if (each.error is None) == (each.instance.fails is None):
            continue
        print(f"{each.instance.name}: {each.error or 'runs, which the list does not say'}")
    for kind in KINDS:
        of_kind = [all(f.error is None for f in each) for key, each in headers.items() if key[0] == kind]
        print(f"{kind}: {sum(of_kind)} of {len(of_kind)} headers run, {NEEDED[kind]} are needed")
    for instance, error in ships:
        if error != instance.fails:
            print(f"{instance.name}: {error}")
    equal = {i.header for i, _ in ships} - {i.header for i, error in ships if error}
    print(f"macros: {len(equal)} of {len({i.header for i, _ in ships})} headers run both ways with the same Dst")
    slowest = max(found, key=lambda each: each.seconds)
    print(f"{sum(f.error is None for f in found)} of {len(found)} instances; slowest {slowest.seconds:.1f} s,")
    print(f"  {slowest.instance.name}")
    unlike = any((each.error is None) != (each.instance.fails is None) for each in found)
    return 1 if unlike or any(error != instance.fails for instance, error in ships) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
