# SPDX-License-Identifier: Apache-2.0
"""Function form: a function in SSA form, of a C file or of a Python kernel (`kernel.py`).

The oracles of a C function: the interpreter of SSA form, unless that takes too long, and the host's own code for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from polyloom import frontend, transform
from polyloom.analysis.stores import written_parameters
from polyloom.diagnostics import MISMATCH, Diagnostic, PolyloomError
from polyloom.frontend.array_source import ArraySource
from polyloom.frontend.c.calls.adapt_function import adapt_function
from polyloom.frontend.c.clang import cached_trees
from polyloom.frontend.c.native import call_native
from polyloom.frontend.c.prototype import Parameter, Prototype, read_prototype
from polyloom.frontend.c.reachable_functions import read_reachable
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Arrays, Options
from polyloom.ir.nest import Nest
from polyloom.ir.signature import RESULT, Argument, Extent, Signature
from polyloom.ir.ssa import ATOMICS, Function
from polyloom.ir.ssa_types import FLOATS, PTR, SIZE
from polyloom.passes import Watch
from polyloom.targets.forms.kernel import kernel_subject
from polyloom.targets.forms.loops import reassociation_bounds
from polyloom.targets.forms.ssa_function import (
    Content,
    as_result,
    better_error,
    index_argument_ranges,
    interpret_outputs,
    unused_parameters,
)
from polyloom.targets.provenance import source_texts
from polyloom.targets.subject import Form, Oracle, Subject, Written

__all__ = ["Content", "Model", "as_result", "form"]


@dataclass(frozen=True, slots=True)
class Model:
    """Data model by which C is read for a target: the target for which clang reads it, the bytes of its `long` (ILP32
    or LP64), the level of clang's optimization (0 to 2); whether it changes the order of float sums where that is
    allowed, and whether kernels are to walk through rows in their inner loops.
    """

    target: str
    long: int
    level: int = 1
    reassociates: bool = False
    by_rows: bool = False


def form(model: Callable[[Any, Any], Model]) -> Form:
    """Form for a target whose place and options make it read C by this model."""

    def load(written: Written, place: Any, options: Any) -> Subject:
        return _load(written, model(place, options))

    return Form("function", "a function (.c, .py, .mlir, .onnx)", _accepts, load)


def _accepts(written: Written) -> bool:
    if (path := written.path) is not None:
        return frontend.source_file(path).endswith((*frontend.FUNCTION_FILES, *frontend.ARRAY_FILES))
    return isinstance(written.value, Kernel | ArraySource)


def _load(written: Written, model: Model) -> Subject:
    """Reader of a function. Errors: those of the front ends."""
    # Only C goes through clang; a Python kernel is lowered from its nest.
    if (path := written.path) is None or not frontend.source_file(path).endswith(".c"):
        return kernel_subject(written, 8 * model.long, reassociates=model.reassociates, by_rows=model.by_rows)
    start = perf_counter()
    file, options = frontend.split_function_name(path, written.options)
    return read_reachable(file, options.function, options, lambda how: _subject(file, how, model, start, written.watch))


@dataclass(frozen=True, slots=True)
class _Oracles:
    """Oracles of a C function, and what they need."""

    path: str
    options: Options
    model: Model
    function: Function
    declared: Prototype
    signature: Signature

    def interpreter(self, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        del values
        return interpret_outputs(self.signature, self.function, inputs, self._outputs)

    def host(self, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        """Outputs of the host's own code for the function; None where its pointers would be of another width."""
        del values
        # The host's code has the host's pointers: structures with pointers in memory would have another layout.
        if self.function.pointers // 8 != np.dtype(np.intp).itemsize and _stores_pointers(self.function):
            return None  # code for narrow pointers in memory, which this host's are not
        return _call_host(self.path, self.options, self.declared, inputs, self.model, self._outputs)

    @property
    def _outputs(self) -> list[str]:
        return [a.name for a in self.signature.outputs]

    def explain(self, error: PolyloomError, values: Mapping[str, int], inputs: Arrays) -> PolyloomError:
        del values
        return better_error(error, self.signature, self.function, self.declared.span, inputs)

    def hidden(self, values: Mapping[str, int]) -> frozenset[str]:
        """Outputs whose elements nobody sees, as far as a nest shows it: of a function that is not one, every element
        may show.
        """
        unused = unused_parameters(self.signature, self.function)
        try:
            found = frontend.c_nest(self.path, replace(self.options, function=self.declared.name))
            # Outside of the assumptions the analysis of the nest says nothing.
            is_meant = values.keys() >= set(found.parameters) and found.assumptions.contains(values)
            return transform.write_only_arguments(found) | unused if is_meant else unused
        except PolyloomError:
            return unused

    def loops(self) -> Nest | None:
        """Function as a nest, where it is one."""
        try:
            return frontend.c_nest(self.path, replace(self.options, function=self.declared.name))
        except PolyloomError:
            return None

    @property
    def all(self) -> tuple[Oracle, ...]:
        """Oracles: the interpreter of SSA form, then the host."""
        bounds = reassociation_bounds if self.model.reassociates and self.options.reassociate else None
        return (
            Oracle("interpreter", "the interpreter of SSA form", self.interpreter, bounds),
            Oracle("host", "the host's own function", self.host, bounds),
        )


def _subject(path: str, options: Options, model: Model, start: float, watch: Watch | None) -> Subject:
    """Subject of a C function, from one reading of the file by clang."""
    # SSA form and declaration come from one run of clang, so that they cannot differ.
    with cached_trees():
        options, name = adapt_function(path, options, model.target)
        function = _ssa(path, options, model, watch)
        declared = _prototype(path, options, model, function)
    # The name of the user's function, also where an adapter calls it.
    function = replace(function, name=name)
    signature = replace(_signature(declared, _output_names(declared, function)), name=name)
    oracles = _Oracles(path, options, model, function, declared, signature)
    return Subject(
        "function",
        Content(function, declared.span, False, options.reassociate),
        path,
        signature,
        oracles.all,
        perf_counter() - start,
        oracles.explain,
        oracles.hidden,
        ranges=partial(index_argument_ranges, function, signature),
        watch=watch,
        texts=source_texts([declared.span]),
        nest=oracles.loops,
    )


def _ssa(path: str, options: Options, model: Model, watch: Watch | None) -> Function:
    """SSA form of a C function. At -O2 clang may use what SSA form has not, such as a wider integer: then it is read at
    -O1.
    """
    try:
        return frontend.ssa(path, options, model.level, model.target, watch=watch)
    except PolyloomError as error:
        if model.level < 2 or error.code != "PL0975":
            raise
    return frontend.ssa(path, options, 1, model.target, watch=watch)


def _prototype(path: str, options: Options, model: Model, function: Function) -> Prototype:
    declared = read_prototype(path, replace(options, function=function.name), model.target, model.long)
    _check_types(declared, function)
    return declared


def _check_types(declared: Prototype, function: Function) -> None:
    """Check that scalars and the result have the width in SSA form that the declaration says: none is cut when it is
    passed. Errors: PL0812.
    """
    for parameter, value in zip(declared.parameters, function.parameters, strict=True):
        is_array = parameter.extents is not None
        agree = is_array == (value.type == PTR) and (is_array or parameter.dtype.itemsize == SIZE[value.type])
        if not agree or (not is_array and (parameter.dtype.kind == "f") != (value.type in FLOATS)):
            message = (
                f"the parameter `{parameter.name}` is declared as {parameter.dtype}, and the code takes {value.type}"
            )
            raise PolyloomError(Diagnostic("PL0812", message, MISMATCH, span=declared.span))
    result = None if declared.result is None else declared.result.itemsize
    if result != (None if function.result in (None, PTR) else SIZE[function.result]):
        message = f"the result is declared as {declared.result}, and the code returns {function.result}"
        raise PolyloomError(Diagnostic("PL0812", message, MISMATCH, span=declared.span))


def _signature(declared: Prototype, names: Sequence[str]) -> Signature:
    """Signature of a declaration. Scalars are parameters, and arguments too; those of preconditions must be given, as
    sizes are.
    """
    arguments = tuple(_argument(p, p.name in names) for p in declared.parameters)
    result = () if declared.result is None else (Argument(RESULT, declared.result, (), False, True),)
    scalars = tuple(p.name for p in declared.parameters if p.extents is None)
    # Only what extents or preconditions name is needed before arrays can be made.
    sizes = tuple(n for n in scalars if n in declared.sizes)
    return Signature(declared.name, scalars, sizes, (*result, *arguments), declared.assumptions)


def _argument(parameter: Parameter, is_output: bool) -> Argument:
    read = [Extent.read(text) for text in parameter.extents or ()]
    shape = tuple(extent for extent in read if extent is not None)
    assert len(shape) == len(read), f"{parameter.name} has the extents {parameter.extents}"
    return Argument(parameter.name, parameter.dtype, shape, True, is_output)


def _call_host(
    path: str, options: Options, declared: Prototype, inputs: Arrays, model: Model, names: Sequence[str]
) -> Arrays:
    """Outputs by the host's own code."""
    given = [inputs[p.name] for p in declared.parameters]
    found = call_native(path, declared, given, replace(options, function=None), model.target)
    # The host's call gives the result first, if the function has one.
    results = [RESULT] if len(found) > len(given) else []
    whole = dict(zip([*results, *(p.name for p in declared.parameters)], found, strict=True))
    return {name: whole[name] for name in names}


def _stores_pointers(function: Function) -> bool:
    """Whether pointers are in memory, whose layout then depends on their width."""
    instructions = [i for member in function.program for block in member.blocks for i in block.instructions]
    stored = (i.operands[0].type for i in instructions if i.operation == "store")
    loaded = (i.results[0].type for i in instructions if i.operation in ("load", *ATOMICS))
    return any(datum.addresses for datum in function.data) or PTR in (*stored, *loaded)


def _output_names(declared: Prototype, function: Function) -> list[str]:
    """Outputs: the result, and arrays into which the function stores."""
    written = written_parameters(function)
    return [
        *([RESULT] if declared.result is not None else []),
        *(p.name for p in declared.parameters if p.name in written),
    ]
