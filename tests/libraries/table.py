# SPDX-License-Identifier: Apache-2.0
"""`make libraries LIBS="DIR ..."`: functions of libraries in C, unchanged, as nests and on the machines that run them.

Each is compared with itself, compiled, bit for bit: first its nest by the interpreter, then each machine's results. For
each machine the table has how many are equal, and the reasons of the others. The exit code is 1 where a result differs.
Behind the folders may be machines (`none`: nests only), `only=FUNCTION`, and `seconds=N`: the CPU time that each nest
and each machine may take.
"""

from __future__ import annotations

import multiprocessing
import random
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt
from tests.frontend.python.helpers import Arrays, arguments, assert_same, meaning
from tests.libraries.functions import Function, Library, answer_refusal, find_lists, load

from polyloom import api
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.clang import cached_trees
from polyloom.ir.nest import Nest
from polyloom.ir.signature import Signature
from polyloom.sets.normal_form import fixed_symbols

EQUAL: Final = "equal"
DIFFERS: Final = "differs"
MACHINES: Final = ("tcpa", "belt", "riscv")
_DATA: Final = re.compile(r"depends on data|as data say|leaves the function|`return` ends|number of iterations depend")
T = TypeVar("T")
Row = Mapping[str, str]
"""A verdict by `nest` and by machine: `equal`, `differs`, or why not."""


def verdicts(library: Library, function: Function, machines: Sequence[str], seconds: int = 0) -> Row:
    """Verdicts about a function; machines are not asked for what no nest is made of."""
    found = within(seconds, partial(compare_nest, library, function))
    if isinstance(found, str):
        return {"nest": found}
    ran = {machine: within(seconds, partial(run_on, machine, *found)) for machine in machines}
    return {"nest": EQUAL, **ran}


def compare_nest(library: Library, function: Function) -> tuple[Function, dict[str, int]] | str:
    """A function with the files that it needs, and sizes, where its nest gives what it gives natively; else why not."""
    try:
        with cached_trees():
            function, nest, reference = load(library, function)
            nest = check_with_least_sizes(nest)
            sizes = next(iter(possible_sizes(nest)))
            inputs: Arrays = {name: a - a.dtype.type(1) for name, a in arguments(nest, sizes, 1).items()}
            assert_same(meaning(nest, sizes, inputs), reference(sizes, inputs))
    except PolyloomError as error:
        # What no run calls, and what the linker misses all the same.
        more = answer_refusal(library, function, str(error)) if error.code == "PL0167" else None
        return reason(error) if more is None else compare_nest(library, more)
    except AssertionError:
        return DIFFERS
    except StopIteration:
        return "no sizes were found"
    return function, sizes


def within(seconds: int, compute: Callable[[], T]) -> T | str:
    """Result of a computation in a process of its own that gets so much CPU time, or why there is none; 0: no limit."""
    if not seconds:
        return compute()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        sender.send(compute())

    process = context.Process(target=child)
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        limited = process.exitcode == -signal.SIGXCPU or process.exitcode == -signal.SIGKILL
        return f"more than {seconds} s" if limited else f"ended with {process.exitcode}"
    finally:
        process.join()


def possible_sizes(nest: Nest) -> Iterator[dict[str, int]]:
    """Sizes for which a nest has a meaning: equal ones first, then others at random."""
    fixed = fixed_symbols(nest.assumptions)
    generator = random.Random(1)
    for attempt in range(3000):
        equal = (8, 5, 4, 3, 16, 2, 1)[attempt : attempt + 1]
        chosen = {
            name: equal[0] if equal else generator.choice((0, 1, 2, 3, 4, 5, 8, 9, 16)) for name in nest.parameters
        }
        if nest.assumptions.contains(sizes := {**chosen, **fixed}):
            yield sizes


def run_on(machine: str, function: Function, sizes: Mapping[str, int]) -> str:
    """Verdict of a machine: whether it gives what the function gives natively."""
    try:
        compiled = api.compile(str(function.path), machine, options=function.options)
        given = {name: sizes.get(name, 4) for name in compiled.signature.sizes}
        shifts: Any = shift_counts(compiled.signature, given)
        return EQUAL if compiled.run(given, fill="random", **shifts).verified else DIFFERS
    except PolyloomError as error:
        return reason(error)


def shift_counts(signature: Signature, sizes: Mapping[str, int]) -> dict[str, npt.NDArray[Any]]:
    """Values of 1 for integers that are called shifts: C has no meaning for most other counts (C17, section 6.5.7)."""
    return {
        a.name: np.ones(a.extents(sizes), a.dtype)
        for a in signature.inputs
        if "shift" in a.name.lower() and a.dtype.kind in "iu" and a.name not in sizes
    }


def reason(error: PolyloomError) -> str:
    """Reason of a refusal: its code, and its message without names."""
    diagnostic = error.diagnostics[0]
    return re.sub(r"`[^`]*`", "…", f"{diagnostic.code}: {diagnostic.message}")


def is_data_dependent(verdict: str) -> bool:
    """Whether a refusal says that data decide which elements or iterations there are."""
    return _DATA.search(verdict) is not None


def table(rows: Sequence[Row], machines: Sequence[str]) -> Iterator[str]:
    """Lines of the table: per column how many are equal, of all and without those that data decide, and the reasons."""
    nests = [row["nest"] for row in rows]
    affine = sum(not is_data_dependent(verdict) for verdict in nests)
    accepted = nests.count(EQUAL)
    shares = f"{share(accepted, len(rows))}; {share(accepted, affine)} of the affine"
    yield f"nest: {accepted} of {len(rows)} equal, {shares}"
    yield from _reasons(nests)
    for machine in machines:
        found = [row[machine] for row in rows if machine in row]
        equal = found.count(EQUAL)
        yield f"{machine}: {equal} of {len(found)} accepted are equal, {share(equal, len(found))}"
        yield from _reasons(found)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _reasons(verdicts: Sequence[str]) -> Iterator[str]:
    counts = Counter(verdict for verdict in verdicts if verdict != EQUAL)
    yield from (
        f"  {count:4} {verdict}" for verdict, count in sorted(counts.items(), key=lambda each: (-each[1], each))
    )


def main(arguments: Sequence[str]) -> int:
    machines = [word for word in arguments if word in (*MACHINES, "none")] or MACHINES
    names = {word.removeprefix("only=") for word in arguments if word.startswith("only=")}
    seconds = next((int(word.removeprefix("seconds=")) for word in arguments if word.startswith("seconds=")), 0)
    differs = False
    for folder in (Path(word) for word in arguments if Path(word).is_dir()):
        for library in find_lists(folder.resolve()):
            rows = list[Row]()
            for function in library.functions:
                if names and function.name not in names:
                    continue
                rows.append(verdicts(library, function, [m for m in machines if m != "none"], seconds))
                print(function.name, *(f"{key}: {value}" for key, value in rows[-1].items()), sep=" | ", flush=True)
            print(*table(rows, [m for m in machines if m != "none"]), sep="\n", flush=True)
            differs |= any(DIFFERS in row.values() for row in rows)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
