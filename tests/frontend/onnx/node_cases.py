# SPDX-License-Identifier: Apache-2.0
"""Node tests of the package `onnx`: models of one node, or of a function's nodes, with inputs and expected outputs.

    python -m tests.frontend.onnx.node_cases [--on riscv,tcpa] [--filter TEXT] [--write]

Each case is read, compiled and run on a machine's model, and compared as the package does it: the types of elements,
the shapes, and numbers within the case's `rtol` and `atol` (`onnx.backend.test.runner.Runner.assert_similar_outputs`).
Inputs of int64 that give shapes, axes or indices are bound when the model is read.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.onnx import lower_model
from polyloom.frontend.onnx.child import prepare
from polyloom.frontend.onnx.graph import identifier
from polyloom.frontend.onnx.settings import Settings
from polyloom.frontend.source import Options
from polyloom.targets import registry

SECONDS = 60
BYTES = 4 << 30
_FORK = multiprocessing.get_context("fork")
PLACES = ("riscv", "tcpa")
LISTS = Path(__file__).with_name("lists")
SHAPES: Mapping[str, frozenset[int]] = {
    name: frozenset(numbers)
    for name, numbers in {
        "Reshape": [1],
        "Expand": [1],
        "Slice": [1, 2, 3, 4],
        "Pad": [1, 3],
        "Tile": [1],
        "Gather": [1],
        "Range": [0, 1, 2],
        "ConstantOfShape": [0],
        "Squeeze": [1],
        "Unsqueeze": [1],
        "Split": [1],
        "CumSum": [1],
        "CumProd": [1],
        "Trilu": [1],
        "OneHot": [1],
        "Attention": [6],
        "RotaryEmbedding": [3],
        **{
            f"Reduce{name}": [1]
            for name in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
        },
    }.items()
}
"""By operator: the inputs of int64 that are no data, but shapes, axes and indices."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case: `passed`, or the reason why not."""

    name: str
    operators: tuple[str, ...]
    passed: bool
    reason: str = ""
    seconds: float = 0.0


@cache
def cases() -> Mapping[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        found = collect_testcases(None)
    return {case.name: case for case in found}


def case_operators(name: str) -> tuple[str, ...]:
    return tuple(sorted({node.op_type for node in cases()[name].model.graph.node}))


def run_case(name: str, place: str) -> Outcome:
    """One case on one machine."""
    case, start = cases()[name], time.process_time()
    try:
        reason = _difference(case, place)
    except PolyloomError as error:
        reason = f"{error.code}: {error.diagnostics[0].message}"
    except Exception as error:  # a defect, which the table shows by name
        reason = f"INTERNAL {type(error).__name__}: {error}"
    return Outcome(name, case_operators(name), not reason, reason, time.process_time() - start)


def _difference(case: Any, place: str) -> str:
    """What differs from the expected outputs; "" where nothing does."""
    for given, expected in case.data_sets:
        source = read_case(case, given)
        if isinstance(source, str):
            return source
        found = run_source(source, case, given, place)
        for info, want in zip(case.model.graph.output, expected, strict=True):
            reason = compare(case, info.name, found, want)
            if reason:
                return reason
    return ""


def read_case(case: Any, given: Sequence[Any]) -> ArraySource | str:
    """The model with integer inputs bound; a text where they are data."""
    bound = dict[str, Any]()
    for info, value in zip(case.model.graph.input, given, strict=True):
        kind, gives = info.type.tensor_type.elem_type, _gives_shapes(case.model, info.name)
        if kind == onnx.TensorProto.INT64 and not gives:
            return "data of int64, which no machine has"
        is_single = len(case.model.graph.node) == 1
        if kind == onnx.TensorProto.INT64 or (gives and is_single):
            bound[info.name] = elements(value)
    return lower_model("case.onnx", case.model, (), Settings({}, bound), prepare)


def elements(value: Any) -> Any:
    """An input or an output of a case as an array."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def _gives_shapes(model: onnx.ModelProto, name: str) -> bool:
    """Whether every node that reads an input of int64 takes it for a shape, axes or indices."""
    uses = [(n, k) for n in model.graph.node for k, each in enumerate(n.input) if each == name]
    # Bodies of functions cast and slice shapes.
    is_body = len(model.graph.node) > 1
    return bool(uses) and (is_body or all(k in SHAPES.get(n.op_type, ()) for n, k in uses))


def run_source(source: ArraySource, case: Any, given: Sequence[Any], place: str) -> Mapping[str, Any]:
    names = [s.name for s in source.program.storage if s.role == "argument"]
    inputs = [info.name for info in case.model.graph.input]
    arrays = {identifier(n, set()): v for n, v in zip(inputs, given, strict=True) if identifier(n, set()) in names}
    target, where = registry.split_place(place)
    options = target.options()
    # The package's outputs judge: oracles of our own would take most of the time.
    subject = replace(api.read_subject(source, target, where, Options(), options), oracles=())
    compiled = api.compile_subject(subject, target, where, options)
    taken = {a.name for a in (*compiled.signature.inputs, *compiled.signature.unread)}
    result = compiled.prepare_instance({}).measure({n: elements(v) for n, v in arrays.items() if n in taken}, fill=None)
    if result.differences:
        raise PolyloomError(*result.differences)
    return result.outputs


def compare(case: Any, name: str, found: Mapping[str, Any], want: Any) -> str:
    want = elements(want)
    got = found.get(identifier(name, set()))
    if got is None:
        return f"there is no output {name}"
    got = np.asarray(got)
    # Places within arrays, which are int64 in ONNX, are i32 on machines.
    got = got.astype(np.int64) if want.dtype == np.int64 and got.dtype == np.int32 else got
    got = got.reshape(()) if want.shape == () and got.shape == (1,) else got
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{name} is {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
    if want.dtype.kind == "f":
        is_close = np.allclose(want, got, rtol=case.rtol, atol=case.atol, equal_nan=True)
    else:
        is_close = np.allclose(want, got, rtol=case.rtol, atol=case.atol)
    return "" if is_close else f"{name} has other numbers: {got.reshape(-1)[:4]} for {want.reshape(-1)[:4]}"


def measure_case(task: tuple[str, str]) -> Outcome:
    """A case in a process of its own: native code, as a solver's, is ended by nothing else. Its time and memory are
    bounded."""
    receiver, sender = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_answer, args=(task, sender))
    child.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        name, _ = task
        reason = f"more than {SECONDS} s" if _ended_by_limit(child) else "ended without an answer"
        return Outcome(name, case_operators(name), False, reason, SECONDS)
    finally:
        child.join()
        receiver.close()


def _answer(task: tuple[str, str], sender: Connection) -> None:
    # The processor's own time: that of a clock says nothing on a busy host.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    sender.send(run_case(*task))


def _ended_by_limit(child: BaseProcess) -> bool:
    child.join()
    return child.exitcode in (-signal.SIGKILL, -signal.SIGXCPU)


def table(place: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How many pass, of each operator that a case is about, and why others are refused."""
    passed = sum(each.passed for each in outcomes)
    yield f"{place}: {passed} of {len(outcomes)} pass"
    yield ""
    singles = [each for each in outcomes if len(each.operators) == 1]
    for operator in sorted({each.operators[0] for each in singles}):
        own = [each.passed for each in singles if each.operators[0] == operator]
        yield f"  {operator:26} {sum(own):4} of {len(own):4}"
    yield ""
    for reason, count in Counter(_short(each.reason) for each in outcomes if not each.passed).most_common():
        yield f"  {count:5}  {reason}"


def _short(reason: str) -> str:
    """A reason without the names of a case."""
    code, _, rest = reason.partition(": ")
    text = re.sub(r"node \d+(?: `[^`]*`)?( \(\w+\))?: |'[^']*'|`[^`]*`|\[[^\]]*\]", "", rest or code)
    return f"{code}: {text.strip()}"[:100] if rest else text.strip()[:100]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", default=",".join(PLACES))
    parser.add_argument("--filter", default="")
    parser.add_argument("--jobs", type=int, default=int(os.environ.get("JOBS", "2")))
    parser.add_argument("--write", action="store_true", help="write the lists of names that pass")
    parser.add_argument("--verbose", action="store_true", help="print each case as it ends")
    options = parser.parse_args()
    names = sorted(name for name in cases() if options.filter in name)
    for place in options.on.split(","):
        run_case("test_add", place)  # loads in this process what the others need
        with ProcessPoolExecutor(options.jobs) as pool:
            outcomes = list[Outcome]()
            for each in pool.map(measure_case, [(name, place) for name in names], chunksize=8):
                outcomes.append(each)
                if options.verbose:
                    verdict = "ok  " if each.passed else "FAIL"
                    print(f"  {verdict} {each.seconds:6.2f} {each.name}: {each.reason[:200]}", flush=True)
        print("\n".join(table(place, outcomes)))
        if options.write:
            LISTS.mkdir(exist_ok=True)
            text = "".join(f"{each.name}\n" for each in outcomes if each.passed)
            (LISTS / f"{place}.txt").write_text(text, encoding="utf-8")
            (LISTS / f"{place}-table.txt").write_text("\n".join([*table(place, outcomes), ""]), encoding="utf-8")
    sys.stdout.flush()


if __name__ == "__main__":
    main()


__all__ = ["Outcome", "cases", "numpy_helper", "run_case"]
