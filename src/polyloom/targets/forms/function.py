# SPDX-License-Identifier: Apache-2.0
"""A function in SSA form, of a C file or of a Python kernel through the C text of its nest.

Its oracles: the interpreter of SSA form, unless that takes too long; the host's own code for the function; and, for a
kernel, the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom import frontend, temporary, transform
from polyloom.analysis.index_ranges import index_ranges
from polyloom.analysis.stores import stored
from polyloom.deep import deeply
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError, Span
from polyloom.frontend.c.clang import one_reading
from polyloom.frontend.c.native import call_native
from polyloom.frontend.c.prototype import Parameter, Prototype, prototype
from polyloom.frontend.c.reached import reading_reached
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Arrays, Options, Reference
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import identifiers, print_c
from polyloom.ir.signature import RESULT, Argument, Extent, Signature
from polyloom.ir.ssa import ATOMICS, Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_types import FLOATS, PTR, SIZE, WIDTH, Type
from polyloom.ir.ssa_verify import uses
from polyloom.passes import Watch
from polyloom.targets.forms.kernel_text import blamed, located
from polyloom.targets.forms.loops import close
from polyloom.targets.provenance import texts
from polyloom.targets.subject import Form, Oracle, Subject, Written

Array = npt.NDArray[Any]
STEPS: Final = 2 * 10**6
"""The interpreter gives up after these, some seconds of work: then the host alone is what a run is compared with."""


@dataclass(frozen=True, slots=True)
class Model:
    """How C is read for a target: the target for which clang reads it, the bytes of its `long`, the level of clang's
    optimization (0 to 2); whether it changes the order of float sums where that is allowed."""

    target: str
    long: int
    level: int = 1
    reassociates: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """The function, and where it stands in the user's text. `distinct`: no two arrays overlap, as in a Python kernel;
    `reassociate`: float sums may change their order."""

    function: Function
    span: Span | None
    distinct: bool = False
    reassociate: bool = False


@dataclass(frozen=True, slots=True)
class _Text:
    """C text: a file of the user's, or (`text`) that of a nest, which is written to a temporary one for as long as it
    is needed."""

    path: str
    options: Options
    text: str | None = None
    nest: Nest | None = None

    def use(self, action: Callable[[str], Any]) -> Any:
        """What `action` gives for the path of a file with the text."""
        if self.text is None:
            return action(self.path)
        with temporary.folder() as folder:
            file = Path(folder, "nest.c")
            file.write_text(self.text, encoding="utf-8")
            try:
                return action(str(file))
            except PolyloomError as error:
                raise error if self.nest is None else blamed(error, str(file), self.nest) from None


def form(model: Callable[[Any, Any], Model]) -> Form:
    """The form for a target whose place and options make it read C by this model."""

    def load(written: Written, place: Any, options: Any) -> Subject:
        return _load(written, model(place, options))

    return Form("function", "a function (.c, .py)", _accepts, load)


def _accepts(written: Written) -> bool:
    if (path := written.path) is not None:
        return frontend.file_of(path).endswith((".c", ".py"))
    return isinstance(written.value, Kernel)


def _load(written: Written, model: Model) -> Subject:
    start = perf_counter()
    if (path := written.path) is not None and frontend.file_of(path).endswith(".c"):
        file, options = frontend.named(path, written.options)
        return reading_reached(
            file, options.function, options, lambda how: _subject(_Text(file, how), model, start, written.watch)
        )
    nest, reference, path = _kernel(written)
    reading = Options(reassociate=written.options.reassociate)
    text = _Text(path, reading, deeply(print_c)(nest, True), nest)
    return _subject(text, model, start, written.watch, nest, reference)


def _kernel(written: Written) -> tuple[Nest, Reference, str]:
    if isinstance(written.value, Kernel):
        return written.value.indirect, written.value.reference, written.value.path
    nest, reference = frontend.python_nest(str(written.path), written.options, indirect=True)
    return nest, reference, str(written.path)


@dataclass(frozen=True, slots=True)
class _Oracles:
    """What the oracles of a function need; `outputs` are the names of what is compared."""

    text: _Text
    model: Model
    function: Function
    declared: Prototype
    outputs: tuple[str, ...]
    nest: Nest | None
    reference: Reference | None

    def interpreter(self, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        del values
        return _interpreted(self.declared, self.function, inputs, self.outputs, STEPS)

    def host(self, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        del values
        if self.function.pointers // 8 != np.dtype(np.intp).itemsize and _has_pointers(self.function):
            return None  # code for narrow pointers in memory, which this host's are not
        return self.text.use(
            lambda path: _native(path, self.text.options, self.declared, inputs, self.model, self.outputs)
        )

    def source(self, values: Mapping[str, int], inputs: Arrays) -> Arrays:
        """The kernel itself, whose sizes are arguments of its C text."""
        assert self.nest is not None and self.reference is not None
        sizes = {name: int(inputs[name]) for name in self.nest.parameters}
        given = {s.name: inputs[s.name] for s in self.nest.storage if s.role == "argument"}
        return {name: np.asarray(array) for name, array in self.reference({**values, **sizes}, given).items()}

    def explain(self, error: PolyloomError, values: Mapping[str, int], inputs: Arrays) -> PolyloomError:
        """What C leaves undefined is a better error: the interpreter's, which looks less long without an end."""
        del values
        has_end = error.code not in ("PL0914", "PL0915")
        try:
            _interpreted(self.declared, self.function, inputs, (), STEPS if has_end else STEPS // 10)
        except PolyloomError as better:
            return better
        first = error.diagnostics[0]
        return PolyloomError(replace(first, span=first.span or self.declared.span))

    def hidden(self, values: Mapping[str, int]) -> frozenset[str]:
        """As far as a nest shows it: of a function that is not one, every element may show."""
        try:
            own = replace(self.text.options, function=self.declared.name)
            found = self.nest or self.text.use(lambda path: frontend.c_nest(path, own))
            is_meant = values.keys() >= set(found.parameters) and found.assumptions.contains(values)
            return transform.only_written(found) | self._unread if is_meant else self._unread
        except PolyloomError:
            return self._unread

    @property
    def _unread(self) -> frozenset[str]:
        """The parameters that no instruction of the function has."""
        found = {value for block in self.function.blocks for _, operands in uses(block) for value in operands}
        names = zip(self.declared.parameters, self.function.parameters, strict=True)
        return frozenset(declared.name for declared, value in names if value not in found)

    @property
    def all(self) -> tuple[Oracle, ...]:
        bounds = close if self.model.reassociates and self.text.options.reassociate else None
        interpreter = Oracle("interpreter", "the interpreter of SSA form", self.interpreter, bounds)
        host = Oracle("host", "the host's own function", self.host, bounds)
        if self.reference is None:
            return interpreter, host
        return interpreter, host, Oracle("source", "the source", self.source, bounds)


def _subject(
    text: _Text,
    model: Model,
    start: float,
    watch: Watch | None,
    nest: Nest | None = None,
    reference: Reference | None = None,
) -> Subject:
    with one_reading():
        function, declared = text.use(lambda path: _read(path, text, model, watch))
    names = _outputs(declared, function)
    if nest is not None:
        declared, names = _renamed(declared, names, nest)
    oracles = _Oracles(text, model, function, declared, tuple(names), nest, reference)
    signature = _signature(declared, names, declared.name if nest is None else nest.name)
    seconds = perf_counter() - start
    content = Content(
        function, declared.span if nest is None else nest.span, nest is not None, text.options.reassociate
    )
    return Subject(
        "function",
        content,
        text.path,
        signature,
        oracles.all,
        seconds,
        oracles.explain,
        oracles.hidden,
        ranges=partial(_ranges, function, declared, signature),
        watch=watch,
        texts=texts([declared.span if nest is None else nest.span]),
    )


def _ranges(
    function: Function, declared: Prototype, signature: Signature, values: Mapping[str, int]
) -> dict[str, tuple[int, int]]:
    """Of inputs that are used as indices, by the user's names; extents need the values of all sizes."""
    names = {inner.name: own.name for inner, own in zip(function.parameters, declared.parameters, strict=True)}
    known = {inner: values[own] for inner, own in names.items() if own in values}
    arrays = {inner: a for inner, own in names.items() if (a := signature.argument(own)) is not None and a.shape}
    shapes = {inner: (a.dtype.itemsize, a.extents(values)) for inner, a in arrays.items()}
    return {names[inner]: found for inner, found in deeply(index_ranges)(function, known, shapes).items()}


def _read(path: str, text: _Text, model: Model, watch: Watch | None) -> tuple[Function, Prototype]:
    function = _ssa(path, text.options, model, watch)
    declared = _prototype(path, text.options, model, function)
    return function if text.nest is None else located(function, path, text.nest), declared


def _ssa(path: str, options: Options, model: Model, watch: Watch | None) -> Function:
    """At -O2 clang may use what SSA form has not, such as a wider integer: then it is read at -O1."""
    try:
        return frontend.ssa(path, options, model.level, model.target, watch=watch)
    except PolyloomError as error:
        if model.level < 2 or error.code != "PL0975":
            raise
    return frontend.ssa(path, options, 1, model.target, watch=watch)


def _renamed(declared: Prototype, outputs: Sequence[str], nest: Nest) -> tuple[Prototype, list[str]]:
    """What the C text of a nest takes and gives, by the user's own names: some of them C cannot have."""
    called = {name: own for own, name in identifiers(nest).items()}
    return declared.called(called), [called.get(output, output) for output in outputs]


def _prototype(path: str, options: Options, model: Model, function: Function) -> Prototype:
    declared = prototype(path, replace(options, function=function.name), model.target, model.long)
    _check_types(declared, function)
    return declared


def _check_types(declared: Prototype, function: Function) -> None:
    """Scalars and the result have the width in SSA form that the declaration says: none is cut when it is passed.
    Errors: PL0812."""
    for parameter, value in zip(declared.parameters, function.parameters, strict=True):
        is_array = parameter.extents is not None
        agree = is_array == (value.type == PTR) and (is_array or parameter.dtype.itemsize == SIZE[value.type])
        if not agree or (not is_array and (parameter.dtype.kind == "f") != (value.type in FLOATS)):
            message = (
                f"the parameter `{parameter.name}` is declared as {parameter.dtype}, and the code takes {value.type}"
            )
            raise PolyloomError(Diagnostic("PL0812", message, MISMATCH, span=declared.span))
    result = None if declared.result is None else declared.result.itemsize
    if result != (None if function.result is None else SIZE[function.result]):
        message = f"the result is declared as {declared.result}, and the code returns {function.result}"
        raise PolyloomError(Diagnostic("PL0812", message, MISMATCH, span=declared.span))


def _signature(declared: Prototype, names: Sequence[str], name: str) -> Signature:
    """Scalars are parameters, and arguments too; those of preconditions must be given, as sizes are."""
    arguments = tuple(_argument(p, p.name in names) for p in declared.parameters)
    result = () if declared.result is None else (Argument(RESULT, declared.result, (), False, True),)
    scalars = tuple(p.name for p in declared.parameters if p.extents is None)
    sizes = tuple(n for n in scalars if n in declared.sizes)
    return Signature(name, scalars, sizes, (*result, *arguments), declared.assumptions)


def _argument(parameter: Parameter, is_output: bool) -> Argument:
    read = [Extent.read(text) for text in parameter.extents or ()]
    own = {written: name for name, written in parameter.written.items()}
    shape = tuple(extent.renamed(own) for extent in read if extent is not None)
    assert len(shape) == len(read), f"{parameter.name} has the extents {parameter.extents}"
    return Argument(parameter.name, parameter.dtype, shape, True, is_output)


def _interpreted(
    declared: Prototype, function: Function, inputs: Arrays, names: Sequence[str], steps: int
) -> Arrays | None:
    """The outputs by the interpreter, unless it takes too long."""
    copies = [inputs[p.name].copy() for p in declared.parameters]
    passed = [plain(a) if p.extents is None else a for p, a in zip(declared.parameters, copies, strict=True)]
    try:
        value = interpret(function, passed, steps)
    except PolyloomError as error:
        if error.code != "PL0974":
            raise
        return None
    found: dict[str, Array] = {p.name: a for p, a in zip(declared.parameters, copies, strict=True)}
    if declared.result is not None and function.result is not None and value is not None:
        found[RESULT] = as_result(value, declared.result, function.result)
    return {name: found[name] for name in names}


def _native(
    path: str, options: Options, declared: Prototype, inputs: Arrays, model: Model, names: Sequence[str]
) -> Arrays:
    """The outputs by the host."""
    given = [inputs[p.name] for p in declared.parameters]
    found = call_native(path, declared, given, replace(options, function=None), model.target)
    results = [RESULT] if len(found) > len(given) else []
    whole = dict(zip([*results, *(p.name for p in declared.parameters)], found, strict=True))
    return {name: whole[name] for name in names}


def as_result(value: float, declared: np.dtype[Any], type: Type) -> Array:
    """What a function returned, as an array of rank 0. It has the width that it has in SSA form, so that one whose
    declaration says otherwise differs from the host's."""
    if isinstance(value, float) or type in FLOATS:
        return np.array(value, f"<f{SIZE[type]}")
    bits = int(value) % (1 << WIDTH[type])
    kind = "u" if declared.kind == "u" else "i"
    dtype = declared if SIZE[type] == declared.itemsize else np.dtype(f"<{kind}{SIZE[type]}")
    return np.frombuffer(bits.to_bytes(dtype.itemsize, "little"), dtype).reshape(()).copy()


def plain(scalar: Array) -> int | float:
    """A scalar as Python's number."""
    return float(scalar) if scalar.dtype.kind == "f" else int(scalar)


def _has_pointers(function: Function) -> bool:
    """Whether pointers are in memory, whose layout then depends on their width."""
    instructions = [i for member in function.program for block in member.blocks for i in block.instructions]
    stored = (i.operands[0].type for i in instructions if i.operation == "store")
    loaded = (i.results[0].type for i in instructions if i.operation in ("load", *ATOMICS))
    return any(datum.addresses for datum in function.data) or PTR in (*stored, *loaded)


def _outputs(declared: Prototype, function: Function) -> list[str]:
    written = stored(function)
    return [
        *([RESULT] if declared.result is not None else []),
        *(p.name for p in declared.parameters if p.name in written),
    ]
