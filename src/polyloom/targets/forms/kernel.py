# SPDX-License-Identifier: Apache-2.0
"""Kernel form: a Python kernel as a function in SSA form, which its nest becomes directly.

Its oracles: the interpreter of SSA form, unless that takes too long, and the kernel itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter

import numpy as np

from polyloom import frontend, transform
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.kernel import Kernel
from polyloom.frontend.source import Arrays, Reference
from polyloom.ir.instance_counts import count_instances
from polyloom.ir.nest import Apply, Nest, assignments, statements, subexpressions
from polyloom.ir.nest import Reference as Element
from polyloom.ir.numbers import NUMPY
from polyloom.ir.signature import Argument, Extent, Signature
from polyloom.ir.ssa import Function
from polyloom.recursion import with_deep_stack
from polyloom.targets.forms.loops import reassociation_bounds
from polyloom.targets.forms.numpy_oracle import numpy_oracles
from polyloom.targets.forms.ssa_function import (
    STEPS,
    Content,
    better_error,
    index_argument_ranges,
    interpret_outputs,
    unused_parameters,
)
from polyloom.targets.provenance import source_texts
from polyloom.targets.subject import Oracle, Subject, Written
from polyloom.transform.nest_to_ssa.reduction_interchange import interchange_reductions
from polyloom.transform.nest_to_ssa.scratch_arguments import scratch_arguments
from polyloom.transform.nest_to_ssa.storage_sharing import share_storage
from polyloom.transform.nest_to_ssa.symmetric_results import compute_triangles


def kernel_subject(written: Written, pointers: int, *, reassociates: bool = False, by_rows: bool = False) -> Subject:
    """Subject of a kernel, for a machine with pointers of 32 or 64 bits; `reassociates`: the machine changes the order
    of float sums where that is allowed, `by_rows`: it computes rows in vectors. Errors: PL010x, PL024x.
    """
    start = perf_counter()
    read, reference, path, data = _read_kernel(written)
    made = compute_triangles(read)
    nest, scratch = scratch_arguments(share_storage(interchange_reductions(made) if by_rows else made))
    # Expressions may be nested deeper than Python's stack allows.
    function = with_deep_stack(frontend.nest_ssa)(nest, pointers, written.watch)
    signature, reassociate = kernel_signature(nest, scratch), written.options.reassociate
    oracles = _Oracles(nest, reference, function, signature, scratch)
    bounds = reassociation_bounds if reassociates and reassociate else None
    interpreter = Oracle("interpreter", "the interpreter of SSA form", oracles.interpreter, bounds)
    own = Oracle("source", "the source", oracles.source, bounds)
    return Subject(
        "function",
        Content(function, nest.span, True, reassociate),
        path,
        signature,
        (interpreter, own, *numpy_oracles(reference, own)),
        perf_counter() - start,
        oracles.explain,
        oracles.hidden,
        ranges=partial(index_argument_ranges, function, signature),
        watch=written.watch,
        texts=source_texts([nest.span]),
        data=data,
        nest=oracles.loops,
    )


def _read_kernel(written: Written) -> tuple[Nest, Reference, str, Arrays]:
    function = frontend.read_function(written.value, written.options)
    assert function is not None
    # What is no file of the user's is a kernel, which Python has checked as it was read.
    nest = function.indirect if isinstance(written.value, Kernel) else frontend.checked_nest(function, indirect=True)
    return nest, function.reference, written.path or function.path, function.data


def kernel_signature(nest: Nest, scratch: frozenset[str] = frozenset()) -> Signature:
    """Signature of a nest: its integer parameters, which are arguments too, and its other arguments in their order;
    what is stored to `scratch` is no result.
    """
    results = {assign.target.name for assign in assignments(nest.body)} - scratch
    passed = [s for s in nest.storage if s.role == "argument"]
    scalars = (*nest.parameters, *(s.name for s in passed if not s.shape))
    needed = {name for s in passed for extent in s.shape for name in extent.symbols} | nest.assumptions.symbols
    arguments = (
        *(Argument(name, NUMPY["i32"]) for name in nest.parameters),
        *(Argument(s.name, NUMPY[s.dtype], tuple(map(Extent.of, s.shape)), True, s.name in results) for s in passed),
    )
    # Only what extents or assumptions need must be given with the sizes; other parameters come with the inputs.
    sizes = tuple(name for name in nest.parameters if name in needed)
    return Signature(nest.name, scalars, sizes, arguments, nest.assumptions)


def _exceeds_operations(nest: Nest, sizes: Mapping[str, int], most: int) -> bool:
    """Whether a function is known to execute more operations than `most` before it starts: the loads and operators of
    statements whose operands change in the innermost loop, which no pass moves out of it."""
    total = 0
    for statement in statements(nest):
        parts = {*subexpressions(statement.assign.value)}
        loads = [p for p in parts if isinstance(p, Element) and _changes(p, statement.loops[-1:])]
        operators = [p for p in parts if isinstance(p, Apply) and p.operation not in ("move", "select")]
        if loads and operators:
            try:
                total += (len(loads) + len(operators)) * (count_instances(statement, sizes) or 0)
            except KeyError:
                # Bounds that are data: nobody knows before.
                continue
    return total > most


def _changes(element: Element, loops: Sequence[str]) -> bool:
    return any(n in form.symbols for form in element.index for n in loops)


@dataclass(frozen=True, slots=True)
class _Oracles:
    """Oracles of a kernel, and what they need."""

    nest: Nest
    reference: Reference
    function: Function
    signature: Signature
    scratch: frozenset[str]

    def interpreter(self, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        sizes = {n: int(inputs[n] if n in inputs else values[n]) for n in self.nest.parameters}
        if _exceeds_operations(self.nest, sizes, STEPS):
            return None
        return interpret_outputs(self.signature, self.function, inputs, [a.name for a in self.signature.outputs])

    def source(self, values: Mapping[str, int], inputs: Arrays) -> Arrays:
        """The kernel itself."""
        sizes = {name: int(inputs[name]) for name in self.nest.parameters}
        given = {s.name: inputs[s.name] for s in self.nest.storage if s.role == "argument"}
        return {name: np.asarray(array) for name, array in self.reference({**values, **sizes}, given).items()}

    def loops(self) -> Nest:
        return self.nest

    def explain(self, error: PolyloomError, values: Mapping[str, int], inputs: Arrays) -> PolyloomError:
        del values
        return better_error(error, self.signature, self.function, self.nest.span, inputs)

    def hidden(self, values: Mapping[str, int]) -> frozenset[str]:
        """Inputs whose elements nobody sees: those that are only written, and those that nothing reads."""
        unused = unused_parameters(self.signature, self.function) | self.scratch
        is_meant = values.keys() >= set(self.nest.parameters) and self.nest.assumptions.contains(values)
        try:
            return transform.write_only_arguments(self.nest) | unused if is_meant else unused
        except PolyloomError:
            return unused
