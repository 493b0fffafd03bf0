# SPDX-License-Identifier: Apache-2.0
"""C functions on targets that run them as they are: compile, call, compare with the interpreter of SSA form and with the host.

What runs is the file that the target's compiler wrote. Arguments that are not given are made up from a seed; outputs are the result,
called `return`, and the arrays that the function may store to.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom import frontend
from polyloom.analysis.stores import stored
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error, nearest
from polyloom.frontend.c.native import call_native
from polyloom.frontend.c.prototype import Parameter, Prototype, prototype
from polyloom.frontend.source import Options, Reference
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import print_c
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument, interpret
from polyloom.memory import available_bytes
from polyloom.report.compare import compare, describe_array
from polyloom.targets.registry import Arrays, FunctionTarget, Json, Progress

Array = npt.NDArray[Any]
RESULT: Final = "return"
STEPS: Final = 2 * 10**6
"""The interpreter gives up after these, some seconds of work: then the host alone is what a run is compared with."""
LIMIT: Final = 10**9
"""As many instructions a run may execute, some seconds of work, unless more are asked for."""
_COPIES: Final = 6
"""As many copies of an array are made, for each that a run is compared with."""


@dataclass(frozen=True, slots=True)
class Result:
    """`data` is what `polyloom run --json` prints."""

    data: dict[str, Json]
    outputs: Arrays
    differences: tuple[Diagnostic, ...]
    listing: str


def compile(path: str, target: FunctionTarget, member: str, options: Options, level: int = 1) -> tuple[Function, bytes]:
    """The chosen function of a C file in SSA form, from clang's code at -O`level`, and the target's file of it. Errors: PL015x, PL093x, PL0975."""
    function = frontend.ssa(path, options, level, target.model(member)[0])
    return function, target.compile(function, member)


Oracle = Callable[[Sequence[Array]], dict[str, Array]]
"""The arguments: the outputs that a function gives by itself."""


def run(
    path: str,
    target: FunctionTarget,
    member: str,
    options: Options,
    scalars: Mapping[str, str],
    arrays: Arrays,
    seed: int,
    wanted: Sequence[str] = (),
    level: int = 1,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> Result:
    """Runs the chosen function of a C file, or of a Python file through the C text of its nest, whose oracle is also the function itself.
    `scalars` are texts by name; `wanted` are names that must be outputs; `level` is clang's; the function returns within
    `limit` instructions. Errors: PL010x and PL02xx for Python, PL015x, PL0230 to PL0232, PL0811, PL0819, PL0914, PL093x, PL0972, PL0975."""
    report = progress or _unheard
    with _c_source(path, options) as (source, own, oracle):
        report("compiling", 0.0)
        model, long = target.model(member)
        start = perf_counter()
        function, data = compile(source, target, member, own, level)
        compile_seconds = perf_counter() - start
        declared = prototype(frontend.file_of(source), replace(own, function=function.name), long)
        names = _outputs(declared, function)
        if (unknown := next((name for name in wanted if name not in names), None)) is not None:
            raise input_error("PL0811", f"the function has no output '{unknown}'", help=nearest(unknown, names, "output"))
        given = arguments(declared, scalars, arrays, seed)

        start = perf_counter()
        got = [a.copy() for a in given]
        try:
            done = target.call(data, function, _passed(declared, got), member, limit, lambda n: report("running", n / limit))
        except PolyloomError as error:
            raise _explained(error.diagnostics[0], declared, function, given, limit) from None
        seconds = perf_counter() - start
        report("interpreting", 1.0)
        expected = _interpreted(declared, function, given, names)
        expected["host"] = "the host's own function", _native(source, declared, given, own, model, names)  # which ends, as that did
        if oracle is not None:
            expected["source"] = oracle[0], oracle[1]([a.copy() for a in given])
        outputs = _collected(declared, done.result, got, names)
        differences = tuple(d for what, found in expected.values() if (d := compare(_flat(found), _flat(outputs), what)) is not None)
        result: dict[str, Json] = {
            "verified": not differences,
            "kernel": function.name,
            "on": f"{target.name}:{member}",
            "parameters": {p.name: _shown(a) for p, a in zip(declared.parameters, given, strict=True) if p.extents is None},
            "cycles": None,
            "operations": done.instructions,
            "compile_seconds": compile_seconds,
            "run_seconds": seconds,
            "outputs": {name: describe_array(array) for name, array in outputs.items()},
            **done.facts,
            "compared_with": list(expected),
        }
        return Result(result, outputs, differences, target.show(data, member))


def _unheard(step: str, fraction: float) -> None:
    """Progress where nobody looks."""
    del step, fraction


@contextmanager
def _c_source(path: str, options: Options) -> Generator[tuple[str, Options, tuple[str, Oracle] | None]]:
    """The C file that runs and its options; of a Python file also what else its outputs have to equal, and its name."""
    file = frontend.file_of(path)
    if not file.endswith(".py"):
        yield path, options, None
        return
    nest, reference = frontend.python_nest(path, options)
    with TemporaryDirectory(prefix="polyloom-") as folder:
        text = Path(folder, f"{Path(file).stem}.c")
        text.write_text(print_c(nest), encoding="utf-8")
        yield str(text), Options(), ("the source, " + path, _oracle(nest, reference))


def _oracle(nest: Nest, reference: Reference) -> Oracle:
    """The nest's own function on arguments in the order of its C text."""
    storage = [s for s in nest.storage if s.role == "argument"]

    def call(values: Sequence[Array]) -> dict[str, Array]:
        sizes = {name: int(value) for name, value in zip(nest.parameters, values, strict=False)}
        given = {s.name: a.reshape(a.shape if s.shape else ()) for s, a in zip(storage, values[len(sizes) :], strict=True)}
        found = reference(sizes, given)
        return {s.name: np.asarray(found[s.name]).reshape(a.shape) for s, a in zip(storage, values[len(sizes) :], strict=True) if s.name in found}

    return call


def page(result: Result) -> str:
    """The text that `polyloom run` prints: the summary, and the code."""
    data = result.data
    values = data["parameters"]
    shown = "".join(f" {n}={v}" for n, v in values.items()) if isinstance(values, dict) else ""
    compared = data["compared_with"]
    references = " and ".join(map(str, compared)) if isinstance(compared, list) else ""
    verdict = "outputs equal" if data["verified"] else "outputs DIFFER from"
    scalars = [f"{RESULT} = {result.outputs[RESULT]}"] if RESULT in result.outputs else []
    lines = [f"{data['kernel']}{shown} on {data['on']}: {verdict} {references}", *scalars]
    lines.append(f"{data['instructions']} instructions executed, {data['code_bytes']} bytes of code")
    return "\n".join([*lines, "", result.listing])


def _explained(error: Diagnostic, declared: Prototype, function: Function, given: Sequence[Array], limit: int) -> PolyloomError:
    """An error of a run, at the function. What C leaves undefined is a better one: the interpreter's, which looks less long where a run had no end."""
    has_end = error.code not in ("PL0914", "PL0915")
    _interpreted(declared, function, given, (), STEPS if has_end else STEPS // 10)
    error = replace(error, span=declared.span)
    if error.code == "PL0914":
        help = f"is there a loop without an end? `--max-instructions {10 * limit}` lets it run longer"
        error = replace(error, message=f"`{declared.name}` has not returned after {limit} instructions", help=help)
    return PolyloomError(error)


def _interpreted(
    declared: Prototype, function: Function, given: Sequence[Array], names: Sequence[str], steps: int | None = None
) -> dict[str, tuple[str, dict[str, Array]]]:
    """The outputs by the interpreter, called so, unless it takes too long."""
    copies = [a.copy() for a in given]
    try:
        value = interpret(function, _passed(declared, copies), STEPS if steps is None else steps)
    except PolyloomError as error:
        if error.diagnostics[0].code != "PL0974":
            raise
        return {}
    return {"interpreter": ("the interpreter of SSA form", _collected(declared, value, copies, names))}


def _native(path: str, declared: Prototype, given: Sequence[Array], options: Options, model: str, names: Sequence[str]) -> dict[str, Array]:
    """The outputs by the host."""
    found = call_native(frontend.file_of(path), declared, given, replace(options, function=None), "" if _is_like_host(model) else model)
    results = found[: len(found) - len(given)]
    whole = dict(zip([*([RESULT] if results else []), *(p.name for p in declared.parameters)], found, strict=True))
    return {name: whole[name] for name in names}


def _is_like_host(model: str) -> bool:
    """Whether `int`, `long` and pointers have the host's widths."""
    return "64" in model


def arguments(declared: Prototype, scalars: Mapping[str, str], arrays: Arrays, seed: int) -> list[Array]:
    """A value for every parameter, scalars with rank 0: those that are given, checked, and others made up from the seed."""
    known = {p.name: p for p in declared.parameters}
    for name in (*scalars, *arrays):
        if name not in known:
            what = "parameter" if name in scalars else "input"
            raise input_error("PL0230" if name in scalars else "PL0231", f"`{declared.name}` has no {what} `{name}`", help=nearest(name, known, what))
    values = {name: _scalar(known[name], text) for name, text in scalars.items()}
    if missing := [name for name in known if name in declared.sizes and name not in values]:
        raise input_error("PL0230", f"the parameter `{missing[0]}` has no value", help=f"give every size, as in `{missing[0]}=16`")
    sizes = {name: int(value) for name, value in values.items() if value.dtype.kind in "iu"}
    generator = np.random.default_rng(seed)
    return [_argument(p, values, arrays, sizes, generator) for p in declared.parameters]


def _argument(parameter: Parameter, values: Mapping[str, Array], arrays: Arrays, sizes: Mapping[str, int], generator: np.random.Generator) -> Array:
    name = parameter.name
    if parameter.extents is None:
        return values[name] if name in values else _checked(parameter, (), arrays[name]) if name in arrays else _random(generator, parameter.dtype, ())
    shape = parameter.shape(sizes)
    if min(shape, default=0) < 0:
        raise input_error("PL0230", f"the array `{name}` has the shape {shape}", help="give sizes from 0 on")
    if name in arrays:
        return _checked(parameter, shape, arrays[name])
    if prod(shape) * max(parameter.dtype.itemsize, 8) * _COPIES > available_bytes():
        raise input_error("PL0230", f"the array `{name}` with the shape {shape} does not fit into memory", help="give smaller sizes")
    return _random(generator, parameter.dtype, shape)


def _checked(parameter: Parameter, shape: tuple[int, ...], array: npt.NDArray[np.generic]) -> Array:
    if array.dtype != parameter.dtype:
        message = f"the input `{parameter.name}` has the type {array.dtype}, not {parameter.dtype}"
        raise input_error("PL0232", message, help=f"convert it: `.astype(numpy.{parameter.dtype.name})`")
    if array.shape != shape:
        raise input_error("PL0232", f"the input `{parameter.name}` has the shape {array.shape}, not {shape}", help="give sizes that are those of the array")
    return np.array(array, order="C")


def _scalar(parameter: Parameter, text: str) -> Array:
    if parameter.extents is not None:
        name = parameter.name
        raise input_error("PL0819", f"{name} is an array, '{text}' is one value", help=f"give it as a file: --in {name}={name}.npy")
    is_float = parameter.dtype.kind == "f"
    try:
        number = float(text) if is_float else int(text)
    except ValueError:
        message = f"the scalar {parameter.name} is '{text[:40]}', which is no value of type {parameter.dtype}"
        raise input_error("PL0819", message, help=f"write for instance {parameter.name}={'1.5' if is_float else '3'}") from None
    if isinstance(number, float):
        with np.errstate(over="ignore"):
            return np.array(number, parameter.dtype)
    least, most = (0, 1) if parameter.dtype.kind == "b" else (int(np.iinfo(parameter.dtype).min), int(np.iinfo(parameter.dtype).max))
    if not least <= number <= most:
        message = f"the scalar `{parameter.name}` has the type {parameter.dtype}, which does not hold {text[:40]}"
        raise input_error("PL0232", message, help=f"give a number from {least} to {most}")
    return np.array(number, parameter.dtype)


def _random(generator: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Integers from -4 to 4, or from 0 to 8 without a sign; floats uniform in [-1, 1)."""
    if dtype.fields is not None:
        made = np.zeros(shape, dtype)
        for name, (inner, *_) in dtype.fields.items():
            base, extents = inner.subdtype or (inner, ())
            made[name] = _random(generator, base, (*shape, *extents))
        return made
    if dtype.kind == "f":
        return np.asarray(generator.uniform(-1, 1, shape)).astype(dtype)
    low, high = (0, 2) if dtype.kind == "b" else (0, 9) if dtype.kind == "u" else (-4, 5)
    return np.asarray(generator.integers(low, high, shape)).astype(dtype)


def _passed(declared: Prototype, values: Sequence[Array]) -> list[Argument]:
    """Numbers for scalars, the arrays themselves for pointers."""
    return [_plain(a) if p.extents is None else a for p, a in zip(declared.parameters, values, strict=True)]


def _plain(scalar: Array) -> int | float:
    return float(scalar) if scalar.dtype.kind == "f" else int(scalar)


def _shown(scalar: Array) -> int | float | str:
    """JSON has no NaN and no infinity."""
    number = _plain(scalar)
    return number if np.isfinite(number) else str(number)


def _outputs(declared: Prototype, function: Function) -> list[str]:
    written = stored(function)
    names = [p.name for p in declared.parameters if p.name in written]
    return [*([RESULT] if declared.result is not None else []), *names]


def _collected(declared: Prototype, value: int | float | None, arrays: Sequence[Array], names: Sequence[str]) -> dict[str, Array]:
    found: dict[str, Array] = {p.name: a for p, a in zip(declared.parameters, arrays, strict=True)}
    if declared.result is not None and value is not None:
        bits = int(value) % (1 << 8 * declared.result.itemsize) if isinstance(value, int) else 0
        found[RESULT] = np.frombuffer(bits.to_bytes(declared.result.itemsize, "little"), declared.result).reshape(()).copy()
        if isinstance(value, float):
            found[RESULT] = np.array(value, declared.result)
    return {name: found[name] for name in names}


def _flat(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The fields of structures one by one: the bytes between them are nobody's."""
    found: dict[str, Array] = {}
    for name, array in arrays.items():
        if array.dtype.fields is None:
            found[name] = array
        else:
            found |= _flat({f"{name}.{field}": array[field] for field in array.dtype.fields})
    return found
