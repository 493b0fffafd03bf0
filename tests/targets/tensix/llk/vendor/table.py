# SPDX-License-Identifier: Apache-2.0
"""`make llk`: the public Wormhole test sources of the vendor's library of low-level kernels, unchanged, from C++ to
results that are compared with NumPy, in the shipping build; with the argument `blackhole` on that member.

The sources are read from a checkout, or from the wheel, and are not a part of this repository; wormhole.txt and
blackhole.txt list their names with what is expected: `equal` with the variants that are run, or why not. The exit code
is 1 where the list and what was found differ.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.targets.tensix.llk.vendor import parameters
from tests.targets.tensix.llk.vendor.case import TILES, Case, relative_error
from tests.targets.tensix.llk.vendor.cases import CASES, REASONS
from tests.targets.tensix.llk.vendor.state_cases import STATE_CASES
from tests.targets.tensix.sfpi.vendor.wheel import unpacked

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.llk.headers import library_root
from polyloom.targets.tensix.llk.run import LlkRun, llk
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.numbers import to_bits, to_numbers

_HERE: Final = Path(__file__).parent
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


def run_source(root: Path, case: Case, member: Member = "wormhole") -> LlkRun:
    """Compilation and run of a case; hazards end it."""
    source = root / "tests" / "sources" / f"{case.source}.cpp"
    named = zip("ABC", case.places, operands(case), strict=False)
    with TemporaryDirectory() as folder:
        text = source.read_text(encoding="utf-8")
        Path(folder, "build.h").write_text(parameters.build_header(case, text), encoding="utf-8")
        return llk(
            str(source),
            on=member,
            inputs={f"{name}@{at}:{case.form}": array for name, at, array in named},
            outputs={f"R@{case.places[3]}:{case.result}": TILES},
            include=[folder, str(root)],
            defines=[*_DEFINES, *(() if case.given.get("constant") else ("RUNTIME_FORMATS",)), *case.defines],
            max_cycles=case.cycles,
            hazards=case.hazards,
        )


def measure(number: int, root: Path, member: Member = "wormhole") -> str:
    """What becomes of a case, by its number: `equal`, or the reason why it does not."""
    case = all_cases(root, member)[number]
    if member == "wormhole" and case.source in REASONS:
        return REASONS[case.source]
    try:
        found = run_source(root, case, member)
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
    # Names of files without folders, and findings without places and times.
    message = re.sub(r"[\w./-]*/", "", first.message).removeprefix("the C compiler says: ")
    message = re.sub(r" pushed from 0x\w+| from \S+:\d+|thread t\d, cycle \d+: ", "", message)
    return f"{first.code} {message[:110]}"


def names(root: Path) -> list[str]:
    """Names of the sources, those of another member's folder left out."""
    folder = root / "tests" / "sources"
    found = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.cpp"))
    return sorted(str(path) for path in found if path.parts[0] != "quasar")


def all_cases(root: Path, member: Member = "wormhole") -> list[Case]:
    """Cases of all sources: one with the defaults, without a golden, where none is written. On Blackhole, whose
    unpackers are not modelled, those that need none."""
    if member == "blackhole":
        return [case for case in STATE_CASES if case.member is None]
    known = {case.source for case in CASES}
    return [*CASES, *(Case(name, None) for name in names(root) if name not in known)]


def list_path(member: Member) -> Path:
    """The committed list of names with what is expected of each."""
    return _HERE / f"{member}.txt"


def read_list(member: Member = "wormhole") -> dict[str, str]:
    text = list_path(member).read_text(encoding="utf-8")
    lines = (line.partition(": ") for line in text.splitlines() if not line.startswith("#"))
    return {name: expected.partition("  # ")[0] for name, _, expected in lines}


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
    member: Member = "blackhole" if "blackhole" in arguments else "wormhole"
    cases = all_cases(root, member)
    found: dict[str, list[str]] = defaultdict(list)
    with ProcessPoolExecutor(2) as pool:
        outcome = pool.map(partial(measure, root=root, member=member), range(len(cases)), chunksize=2)
        for case, what in zip(cases, outcome, strict=True):
            found[case.source].append(what)
    outcomes = {name: next((what for what in each if what != EQUAL), EQUAL) for name, each in sorted(found.items())}
    variants: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        variants[case.source].append(describe_variant(case))
    shown = {name: [what, " | ".join(variants[name])] if what == EQUAL else [what] for name, what in outcomes.items()}
    width = max(map(len, outcomes))
    for name, what in shown.items():
        print(f"{name:<{width}}  {'  # '.join(what)}")
    print(summary(outcomes, member))
    if "--update" in arguments:
        head = "# Public test sources of the vendor's low-level kernels, and what is expected of each: `make llk`.\n"
        text = head + "".join(f"{name}: {'  # '.join(what)}\n" for name, what in shown.items())
        list_path(member).write_text(text, encoding="utf-8")
        return 0
    expected = read_list(member)
    changed = [name for name in outcomes if outcomes[name] != expected.get(name)]
    for name in changed:
        print(f"changed: {name}: {outcomes[name]}, not {expected.get(name, 'in the list')}")
    return 1 if changed else 0


def describe_variant(case: Case) -> str:
    """Formats and parameters of a case, as far as they are not the defaults."""
    forms = case.form if case.form == case.result else f"{case.form} to {case.result}"
    given = (
        f"{name}={str(value).rpartition('::')[2]}"
        for name, value in case.given.items()
        if name.isupper() or name[:2] in ("is", "un")
    )
    return " ".join([forms, *given])


def summary(outcomes: Mapping[str, str], member: Member) -> str:
    """One line: how many of the member's sources are equal."""
    others = sum(what.startswith(("PL1227", "Blackhole only")) for what in outcomes.values())
    equal = sum(what == EQUAL for what in outcomes.values())
    own = len(outcomes) - others
    return f"{equal} of {own} sources for {member} equal their golden ({len(outcomes)} in all)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
