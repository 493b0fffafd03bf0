# SPDX-License-Identifier: Apache-2.0
"""`make llk`: the public Wormhole test sources of the vendor's library of low-level kernels, unchanged, from C++ to
results that are compared with NumPy.

The sources are read from a checkout, or from the wheel, and are not a part of this repository; wormhole.txt lists their
names with what is expected: `equal`, or why not. The exit code is 1 where the list and what was found differ.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.llk.vendor import parameters
from tests.targets.tensix.llk.vendor.case import TILES, Case, relative_error
from tests.targets.tensix.llk.vendor.cases import CASES
from tests.targets.tensix.sfpi.vendor.wheel import unpacked

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.llk.headers import library_root
from polyloom.targets.tensix.llk.run import LlkRun, llk
from polyloom.targets.tensix.words.numbers import to_bits, to_numbers

LIST: Final = Path(__file__).with_name("wormhole.txt")
EQUAL: Final = "equal"
_DEFINES: Final = ("ENV_LLK_INFRA", "KERNEL_BUILD", "LLK_BOOT_MODE_BRISC")
_WHEEL: Final = Path("build", "ttnn")


def operands(case: Case) -> tuple[NDArray[Any], ...]:
    """Random operands, as their format holds them."""
    random = np.random.default_rng(5)
    made = [random.uniform(-2, 2, (TILES, 32, 32)).astype(np.float32) for _ in range(3)]
    if case.ones:
        made[1][:] = 1
    given = map(case.operand, made) if case.operand else made
    return tuple(to_numbers(case.form, to_bits(case.form, each, "operand")) for each in given)


def run_source(root: Path, case: Case) -> LlkRun:
    """Compilation and run of a case; hazards end it."""
    source = root / "tests" / "sources" / f"{case.source}.cpp"
    named = zip("ABC", case.places, operands(case), strict=False)
    with TemporaryDirectory() as folder:
        text = source.read_text(encoding="utf-8")
        Path(folder, "build.h").write_text(parameters.build_header(case, text), encoding="utf-8")
        return llk(
            str(source),
            inputs={f"{name}@{at}:{case.form}": array for name, at, array in named},
            outputs={f"R@{case.places[3]}:{case.result}": TILES},
            include=[folder, str(root)],
            defines=[*_DEFINES, *(() if case.given.get("constant") else ("RUNTIME_FORMATS",)), *case.defines],
            max_cycles=case.cycles,
        )


def measure(number: int, root: Path) -> str:
    """What becomes of a case, by its number: `equal`, or the reason why it does not."""
    case = all_cases(root)[number]
    try:
        found = run_source(root, case)
    except PolyloomError as error:
        return _reason(error)
    if found.outcome.stop != "idle":
        return f"stops: {found.outcome.stop}"
    if case.golden is None:
        return "no golden"
    expected = case.golden(*operands(case))
    got = case.shown(found) if case.shown else found.outputs["R"][: len(expected)]
    error = relative_error(got, expected)
    return EQUAL if error <= case.near else f"differs by {error:.2g}"


def _reason(error: PolyloomError) -> str:
    first = error.diagnostics[0]
    message = re.sub(r"/\S*/", "", first.message).removeprefix("the C compiler says: ")
    message = re.sub(r" from \S+:\d+|thread t\d, cycle \d+: ", "", message)
    return f"{first.code} {message[:110]}"


def names(root: Path) -> list[str]:
    """Names of the sources, those of another member's folder left out."""
    folder = root / "tests" / "sources"
    found = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.cpp"))
    return sorted(str(path) for path in found if path.parts[0] != "quasar")


def all_cases(root: Path) -> list[Case]:
    """Cases of all sources: one with the defaults, without a golden, where none is written."""
    known = {case.source for case in CASES}
    return [*CASES, *(Case(name, None) for name in names(root) if name not in known)]


def read_list() -> dict[str, str]:
    lines = (line.partition(": ") for line in LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: expected for name, _, expected in lines}


def main(arguments: Sequence[str]) -> int:
    folder = Path(arguments[0])
    # Where `make` names the place of the wheel, it is downloaded unless it is there.
    root = library_root(unpacked(folder.resolve()) if folder == _WHEEL else folder)
    if root is None:
        print(
            f"{arguments[0]} has no library of low-level kernels: give a checkout of tt-metal or tt-llk",
            file=sys.stderr,
        )
        return 2
    cases = all_cases(root)
    found: dict[str, list[str]] = defaultdict(list)
    with ProcessPoolExecutor(2) as pool:
        outcome = pool.map(partial(measure, root=root), range(len(cases)), chunksize=2)
        for case, what in zip(cases, outcome, strict=True):
            found[case.source].append(what)
    outcomes = {name: next((what for what in each if what != EQUAL), EQUAL) for name, each in sorted(found.items())}
    width = max(map(len, outcomes))
    for name, what in outcomes.items():
        print(f"{name:<{width}}  {what}")
    kinds = Counter(
        "another architecture" if what.startswith("PL1227") else what.split(" ")[0] for what in outcomes.values()
    )
    own = len(outcomes) - kinds["another architecture"]
    print(f"{kinds[EQUAL]} of {own} Wormhole sources equal their golden ({len(outcomes)} in all)")
    if "--update" in arguments:
        head = "# Public test sources of the vendor's low-level kernels, and what is expected of each: `make llk`.\n"
        LIST.write_text(head + "".join(f"{name}: {what}\n" for name, what in outcomes.items()), encoding="utf-8")
        return 0
    expected = read_list()
    changed = [name for name in outcomes if outcomes[name] != expected.get(name)]
    for name in changed:
        print(f"changed: {name}: {outcomes[name]}, not {expected.get(name, 'in the list')}")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
