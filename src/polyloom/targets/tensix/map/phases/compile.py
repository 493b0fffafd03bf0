# SPDX-License-Identifier: Apache-2.0
"""Compiler of a nest to phases of vector code, for values of its parameters: arrangement, vectors, kernels, layout,
programs of the three threads, executable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Span, input_error
from polyloom.ir.nest import Nest, assignments
from polyloom.ir.signature import Signature
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.passes import Watch
from polyloom.riscv.backend.link import executable
from polyloom.targets.tensix.map.loops.compile import PAGE, fixed_signature
from polyloom.targets.tensix.map.loops.join import assemble_parts
from polyloom.targets.tensix.map.loops.origins import origins
from polyloom.targets.tensix.map.loops.steps import span_place
from polyloom.targets.tensix.map.loops.vector import kernel_words
from polyloom.targets.tensix.map.phases.linear_layout import place_linear
from polyloom.targets.tensix.map.phases.threads import HALF, Phases, threads
from polyloom.targets.tensix.map.phases.vector_nest import LANES, VectorNest, arrange_nest, vectorize
from polyloom.targets.tensix.words.arrays import note as notes
from polyloom.targets.tensix.words.arrays.area import CODE, DATA, MEETING, element_format
from polyloom.targets.tensix.words.arrays.formats import Arithmetic
from polyloom.targets.tensix.words.arrays.note import Note, OutputArea, StageFacts
from polyloom.targets.tensix.words.arrays.tiles import FACE, LINE
from polyloom.targets.tensix.words.program import CORE
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.stages.integers.carry_nest import carry_nest_integers

PHASES: Final = "phases"
"""What a nest is in reports."""


@dataclass(frozen=True, slots=True)
class Content:
    """Compiler input: the nest as the source has it, and the arithmetic. `is_carried_at_sizes`: its integers become
    floats when sizes are known, which tell how large they are.
    """

    nest: Nest
    how: Arithmetic
    is_carried_at_sizes: bool = False


def arrange_content(content: Content, values: Mapping[str, int]) -> Nest:
    """Nest at its sizes, in the order of its code. Errors: PL1232 for integers that floats do not hold."""
    nest = content.nest
    return arrange_nest(carry_nest_integers(specialize(nest, values)) if content.is_carried_at_sizes else nest, values)


def compile_phases(
    content: Content, signature: Signature, values: Mapping[str, int], watch: Watch | None, reason: str = ""
) -> bytes:
    """Pipeline of phases; the `reason` why the program is no stages is part of its note. Errors: PL1233 (exit 3),
    PL1230 at sizes that leave no vectors, PL1231, PL1232 for integers that floats do not hold, PL1280.
    """
    check_sizes(content.nest, values)
    vectors = vectorize(arrange_content(content, values))
    strips = sorted(vectors.strips.values(), key=lambda strip: strip.number)
    # Half of Dst is shared out to the operands, in fours of rows that vectors take.
    slot = HALF // max(4, *(len(strip.vectors) for strip in strips)) // 4 * 4
    lanes = min(LANES, slot * FACE - LINE)
    element = element_format(content.how)
    loads = [[(element.mode, slot * n) for n in range(len(strip.formula.arrays))] for strip in strips]
    words = [tuple(kernel_words(s.formula, element.mode, watch, at)) for s, at in zip(strips, loads, strict=True)]
    kernels = tuple(tuple(word for word, _ in kernel) for kernel in words)
    data, code = DATA, b""
    # Addresses of arrays stand in the code, whose length they change; the loop ends, since `data` only grows.
    while True:
        layout = place_linear(vectors.nest, data + MEETING)
        phases = Phases(vectors, layout, kernels, slot, lanes, element.code, _reads_results(vectors))
        code, starts, lines = assemble_parts([threads(phases)], data)
        if CODE + len(code) <= data:
            break
        data = -(-(CODE + len(code)) // PAGE) * PAGE
    # Arrays that are read and written have one place, and are inputs and outputs there.
    names = {a.name: a for a in signature.arguments}
    tables = () if vectors.indices is None else vectors.indices.storage
    inputs = tuple(
        layout.area(name) for name in (*(n for n, a in names.items() if a.is_input), *(t.name for t in tables))
    )
    outputs = tuple(OutputArea(n, layout.area(n), tuple(range(len(a.shape)))) for n, a in names.items() if a.is_output)
    facts = StageFacts(content.nest.name, PHASES, _line(content.nest.span), (len(strips),))
    note = Note(
        fixed_signature(signature, values), content.how, data, (facts,), inputs, (), outputs, vectors.indices, reason
    )
    home = next((strip.formula.place for strip in strips), NOWHERE)
    known: dict[int, Place] = {word: place for kernel in words for word, place in kernel}
    return executable(b"", CODE, code, CORE, starts, notes.encode(note, origins(lines[0], home, known)))


def check_sizes(nest: Nest, values: Mapping[str, int]) -> None:
    """Check that arrays have elements. Errors: PL1237."""
    for storage in nest.storage:
        shape = tuple(extent.evaluate(values) for extent in storage.shape)
        if min(shape, default=1) < 1:
            message = f"`{storage.name}` has no elements: its shape is {shape}"
            raise input_error("PL1237", message, help="give sizes of which all arrays have elements")


def _reads_results(vectors: VectorNest) -> bool:
    """Whether an element that a statement computes is a scalar of one."""
    written = {a.target.name for a in assignments(vectors.nest.body)}
    return any(read.name in written for strip in vectors.strips.values() for read in strip.scalars)


def _line(span: Span | None) -> int:
    return span_place(span).line
