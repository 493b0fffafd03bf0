# SPDX-License-Identifier: Apache-2.0
"""Loops as a form of sources of the tile: equations (.pla), Python and C kernels that are programs of stages, of
products and element-wise formulas; with two oracles (docs/targets/tensix-loops.md).

`arithmetic` is the tile's own arithmetic, stage by stage, bit for bit; `equations` is the program, from which outputs
may be as far as the errors of all stages allow. Integers must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from polyloom import frontend
from polyloom.analysis.dataflow import Unlike
from polyloom.analysis.formulas_program import program_formulas
from polyloom.analysis.formulas_system import system_formulas
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.frontend.source import Arrays, Reference, Source
from polyloom.ir import signature, stage_interpret
from polyloom.ir.arrays.program import For
from polyloom.ir.arrays.program import Program as ArrayProgram
from polyloom.ir.plan_interpret import interpret
from polyloom.ir.stage import Fold, Formula, Product, Program
from polyloom.ir.stage_interpret import output_part
from polyloom.passes import Pass, Watch, run_passes
from polyloom.targets.forms import loops
from polyloom.targets.forms.loops import EQUATIONS
from polyloom.targets.provenance import source_texts
from polyloom.targets.subject import Form, Oracle, Subject, Written
from polyloom.targets.tensix.map.loops.array_form import array_signature, cut_arrays, program_signature
from polyloom.targets.tensix.map.loops.compile import Content
from polyloom.targets.tensix.map.loops.functions import FUNCTIONS
from polyloom.targets.tensix.map.loops.fused.choose import fuse_epilogues
from polyloom.targets.tensix.map.loops.fused.sum_formulas import split_sum_formulas
from polyloom.targets.tensix.map.loops.half.selection import HALF_WIDTH, select_half_functions
from polyloom.targets.tensix.map.loops.pointwise import select_operations
from polyloom.targets.tensix.map.loops.rows.fold import COLUMNS
from polyloom.targets.tensix.map.loops.steps import ARRAYS, HALF_ARRAYS, SCALARS
from polyloom.targets.tensix.map.oracle.evaluate import computed_datums, error_bounds
from polyloom.targets.tensix.map.oracle.judgement import bound_help, loop_oracles
from polyloom.targets.tensix.map.oracle.nest_outputs import nest_outputs, program_outputs
from polyloom.targets.tensix.map.phases.alternatives import Alternatives, combine_oracles, lack_of_room
from polyloom.targets.tensix.map.phases.form import computes_in_32_bits, nest_oracles, phases_content, phases_oracles
from polyloom.targets.tensix.map.phases.refusals import combine_refusals, has_mixed_types, refuse_loops
from polyloom.targets.tensix.options import FP32, Dest, Name
from polyloom.targets.tensix.words.arrays.area import END, NARROW, element_format
from polyloom.targets.tensix.words.arrays.elements import ELEMENTS, element_format_name
from polyloom.targets.tensix.words.arrays.formats import FORMATS, Arithmetic
from polyloom.targets.tensix.words.arrays.tiles import SIDE
from polyloom.targets.tensix.words.arrays.views import Views
from polyloom.transform.stages.abilities import Abilities
from polyloom.transform.stages.array_formulas import array_formulas
from polyloom.transform.stages.array_recomputation import recomputed_formulas
from polyloom.transform.stages.array_statements import straighten
from polyloom.transform.stages.integers.carried_terms import EXACT, Carrier
from polyloom.transform.stages.layout_assignment import assign_layouts
from polyloom.transform.stages.nest import computes_with_loops, sums_products
from polyloom.transform.stages.recognize import recognize_stage
from polyloom.transform.stages.stage_cutting import STAGES, cut_stages
from polyloom.transform.stages.system_arrays import system_arrays
from polyloom.transform.writers import runs_in_place

if TYPE_CHECKING:
    from polyloom.frontend import FunctionSource

__all__ = ["CUT", "FORM", "FORMS", "Content"]

CUT: Final = "cut"
"""The pass that leaves stages."""
TILE: Final = Abilities("a tile", frozenset(("f32", "i32")), fuses=True, arrays=ARRAYS, scalars=SCALARS)
_FOLDING: Final = replace(TILE, folds=True, row=COLUMNS * SIDE)
"""Of arrays that are computed for each place at which they are read, which are many: less is computed for each row."""
FORMS: Final = (
    "a tile takes sums of products such as examples/matmul.pla, element-wise programs such as axpy.pla, and both one "
    "after another such as kernels/gemm.c"
)
_SMALL: Final = 1 << 18
"""Products up to which a program is interpreted as it stands."""
_FIDELITY: Final = 4
"""What is said if nothing is said."""


def _load(written: Written, place: Any, options: Any) -> Subject:
    """Subject of loops: cut into stages, arranged as matrices, operations selected; or a nest for phases of vector
    code. Errors: PL1230 for a program of another form, PL1231 for an operation, PL1232 for a format that does not fit,
    and those of reading.
    """
    del place
    function = frontend.read_function(written.value, written.options)
    arrays = None if function is None else function.program
    if options.format == FP32:
        return _load_phases(function, arrays, written, options)
    if function is None or arrays is None:
        return _load_loops(written, options)
    try:
        found = _load_arrays(function, arrays, written, options)
        reason = _lack_of_room(found.content, arrays)
        if reason is None:
            return found
    except Unlike as lack:
        reason = input_error("PL1230", lack.message, span=lack.span or arrays.span, help=FORMS)
    except PolyloomError as error:
        # Integers that stages do not carry may be carried by phases, whose sums are not rounded.
        if not has_mixed_types(function.nest) or options.fidelity != _FIDELITY:
            raise
        reason = error
    try:
        if any(isinstance(each, For) for each in arrays.body):
            # Loops around array statements may still be stages, by their dependences, or phases, which take less room.
            return _load_loops(written, options)
        # Array statements in a row have shown what they are. Their equations would say no more, and take minutes.
        if not computes_in_32_bits(function.nest, options):
            raise reason
        return _load_nest(function, arrays, written, options)
    except PolyloomError as error:
        raise error if error is reason else combine_refusals(function.nest, reason, error) from None


def _load_phases(
    function: FunctionSource | None, arrays: ArrayProgram | None, written: Written, options: Any
) -> Subject:
    """Subject of loops whose products run on the vector unit, too. Errors: PL1232 for equations."""
    if function is not None and arrays is not None and not any(isinstance(each, For) for each in arrays.body):
        return _load_nest(function, arrays, written, options)
    source = loops.load_source(written.value, written.options, written.watch, has_steps=False)
    if source.nest is None:
        message = f"`{source.plan.name}` is equations, and fp32 takes loops, in Python or C, or whole arrays"
        raise input_error("PL1232", message, help="write --format tf32, or leave it out")
    vectors = phases_content(source.nest, options)
    return _loops_subject(source, vectors, phases_oracles(source, vectors), written)


def _lack_of_room(content: Content, arrays: ArrayProgram) -> PolyloomError | None:
    """PL1233 where the extents are constants, L1 has no room for tiles, and has room for the arguments as they are."""
    if arrays.parameters:
        return None
    # Words of 32 bits, which phases have in L1 once and without padding.
    taken = sum(4 * prod(e.constant for e in s.shape) for s in arrays.storage if s.role == "argument")
    return lack_of_room(content, {}) if taken <= END else None


def _load_arrays(function: FunctionSource, arrays: ArrayProgram, written: Written, options: Any) -> Subject:
    """Subject of a function of whole arrays, whose stages are its array operations. Raises `Unlike`."""
    start, reference = perf_counter(), function.reference
    content, stages, views = _cut_whole_arrays(arrays, options, written.watch)
    of, texts = array_signature(arrays, function.nest, stages, views), source_texts([arrays.span])
    oracles = _content_oracles(content, reference, Oracle("source", "the source", reference))
    seconds = perf_counter() - start
    in_place = partial(runs_in_place, function.nest)
    return Subject(
        "loops",
        content,
        function.path,
        of,
        oracles,
        seconds,
        texts=texts,
        watch=written.watch,
        in_place=in_place,
        data=function.data,
    )


def _cut_whole_arrays(arrays: ArrayProgram, options: Any, watch: Watch | None) -> tuple[Content, Program, Views]:
    """Stages of whole arrays: each array once, or else for each place at which it is read. Raises `Unlike`."""
    stores = tuple(straighten(arrays))
    forms = (
        (TILE, array_formulas),
        (_FOLDING, partial(recomputed_formulas, has_rows=True)),
        (_FOLDING, partial(recomputed_formulas, has_rows=False)),
    )
    reasons = list[Unlike]()
    has_halves = options.format in ("bf16", "fp16")
    # Formulas of more arrays are stored by the vector unit, which truncates, where packers round sums in Dst: next to a
    # tie, that is one of the integers.
    is_rounded = any(storage.dtype in NARROW for storage in arrays.storage)
    room = HALF_ARRAYS if has_halves and not is_rounded else ARRAYS
    for abilities, formulas_of in forms:
        can = replace(abilities, has_halves=has_halves, arrays=room)
        try:
            stages, views = cut_arrays(arrays, stores, can, watch, formulas_of, _carrier(options))
            return _select_stages(stages, options, views), stages, views
        except Unlike as lack:
            reasons.append(lack)
    # What the first form lacks is what the source says.
    raise reasons[1]


def _carrier(options: Any) -> Carrier | None:
    """Integers that a format's floats hold, by their bits of mantissa; the matrix unit reads 10 of the right factor's.
    In 16 bits, sums of several products are rounded between them, more than one sum is where products are aligned.
    """
    name: Name = options.format or "tf32"
    if name == "tf32":
        return Carrier(EXACT, 1 << 10, splits=options.fidelity == _FIDELITY and options.dest != 16)
    held = {"bf16": 1 << 8, "fp16": 1 << 10}.get(name)
    return None if held is None else Carrier(held, held, splits=False)


def _load_nest(function: FunctionSource, arrays: ArrayProgram, written: Written, options: Any) -> Subject:
    """Subject of a function of whole arrays that runs as phases of vector code. Errors: PL1232."""
    start, nest = perf_counter(), check_with_least_sizes(function.nest)
    vectors = phases_content(nest, options)
    program = Oracle("source", "the source", partial(program_outputs, nest))
    return Subject(
        "loops",
        vectors,
        function.path,
        program_signature(arrays, nest),
        nest_oracles(nest, function.reference, program, vectors),
        perf_counter() - start,
        texts=source_texts([arrays.span]),
        watch=written.watch,
        in_place=partial(runs_in_place, nest),
        data=function.data,
    )


def _load_loops(written: Written, options: Any) -> Subject:
    source = loops.load_source(written.value, written.options, written.watch, has_steps=False)
    content, oracles = _select_form(source, options, written.watch)
    return _loops_subject(source, content, oracles, written)


def _loops_subject(source: Source, content: Any, oracles: tuple[Oracle, ...], written: Written) -> Subject:
    of = signature.plan_signature(source.plan, source.nest)
    equations = [e.span for phase in source.plan.phases for e in phase.program.equations]
    known = source_texts(equations or ([] if source.nest is None else [source.nest.span]))
    return Subject(
        "loops",
        content,
        source.path,
        of,
        oracles,
        source.seconds,
        # A plan of arguments alone means nothing to those who ask for it.
        source=source if source.plan.phases else None,
        texts=known,
        watch=written.watch,
        in_place=None if source.nest is None else partial(runs_in_place, source.nest),
        data=source.data,
    )


def _select_form(source: Source, options: Any, watch: Watch | None) -> tuple[Any, tuple[Oracle, ...]]:
    """Stages of a source, else its phases, or both where it has both in the same arithmetic; with their oracles.
    Errors: PL1230, PL1232.
    """
    if source.nest is not None and any(storage.dtype in NARROW for storage in source.nest.storage):
        # Stages keep all arrays in one type; phases extend narrow integers to it.
        vectors = phases_content(source.nest, options)
        return vectors, phases_oracles(source, vectors)
    try:
        content = cut_content(source, options, watch)
    except Unlike as lack:
        if source.nest is None:
            raise input_error("PL1230", lack.message, span=lack.span, help=FORMS) from None
        try:
            vectors = phases_content(source.nest, options)
        except PolyloomError as error:
            raise refuse_loops(source.nest, lack.message, error) from None
        return vectors, phases_oracles(source, vectors)
    oracles = _loop_oracles(source, content)
    if content.views is None or source.nest is None or not computes_in_32_bits(source.nest, options):
        return content, oracles
    # What a mask leaves out takes room in L1, which phases do not need.
    vectors = phases_content(source.nest, options)
    both = combine_oracles(content, oracles, phases_oracles(source, vectors))
    return Alternatives(content, vectors), both


def cut_content(source: Source, options: Any, watch: Watch | None) -> Content:
    """Stages of a source: of whole rows and columns, or of recurrences with masks. Raises `Unlike`."""
    try:
        return _select_stages(run_passes(source, (Pass(CUT, cut_source, STAGES),), watch), options)
    except Unlike as lack:
        if source.system is None or source.nest is None:
            raise
        # Values of loops are arrays that the host lays out, as those of masks are.
        if not sums_products(source.nest) and not computes_with_loops(source.nest):
            raise
        reason = lack
    try:
        arrays, stores = system_arrays(source.system)
        stages, views = cut_arrays(arrays, stores, TILE, watch)
        return _select_stages(stages, options, views)
    except Unlike:
        raise reason from None


def _select_stages(program: Program, options: Any, views: Views | None = None) -> Content:
    """Arithmetic, layouts and operations of stages. Raises `Unlike`."""
    program = split_sum_formulas(program)
    how = _select_arithmetic(program, options)
    is_half = element_format(how).width == HALF_WIDTH
    formulas = {
        s.result: select_operations(s, program, HALF_ARRAYS if is_half else ARRAYS)
        for s in program.stages
        if isinstance(s, Formula) and not isinstance(s, Fold)
    }
    if is_half:
        formulas = {name: select_half_functions(formula) for name, formula in formulas.items()}
    arranged = assign_layouts(program)
    return Content(program, arranged, formulas, how, views, fuse_epilogues(arranged, formulas, program, how))


def cut_source(source: Source) -> Program:
    """Cut into stages: one of any sizes, else several. Raises `Unlike` with what is lacking for several, of equations
    what they lack for one.
    """
    try:
        return recognize_stage(source.plan, TILE)
    except Unlike:
        # A system of equations has no order of statements; dependences cut it.
        if source.system is not None:
            return cut_stages(system_formulas(source.system), TILE)
        if len(source.plan.phases) != 1 or source.plan.phases[0].parametric:
            raise
        return cut_stages(program_formulas(source.plan.phases[0].program), TILE)


def _select_arithmetic(program: Program, options: Any) -> Arithmetic:
    """Arithmetic of a program, from its types and the options. Errors: PL1232 for formats, types and a fidelity that do
    not fit.
    """
    types = {name: program.types[name] for stage in program.stages for name in (stage.result, *stage.reads)}
    # One format of Dst serves the whole program, so that mixed types would need conversions that no stage does.
    kind = next(iter(types.values())) if len({*types.values()}) == 1 else ""
    if kind not in ("f32", "i32"):
        help = "declare all arrays and scalars as f32, or as i32"
        other = sorted(f"`{name}` is {dtype}" for name, dtype in types.items() if dtype not in ("f32", "i32"))
        message = f"a program on a tile is all f32 or all i32{f', and {other[0]}' if other else ''}"
        raise input_error("PL1232", message, help=help)
    products = [stage for stage in program.stages if isinstance(stage, Product)]
    name: Name = options.format or ("tf32" if kind == "f32" else "i8")
    if FORMATS[name].element != kind:
        others = " or ".join(n for n, f in FORMATS.items() if f.element == kind)
        message = f"--format {name} is for {FORMATS[name].element}, and the arrays are {kind}"
        raise input_error("PL1232", message, help=f"write --format {others}" if products else "leave --format out")
    if products:
        return _product_arithmetic(program, name, options)
    if options.fidelity != _FIDELITY:
        message = "the fidelity is that of products, and an element-wise program has none"
        raise input_error("PL1232", message, help="leave --fidelity out")
    bits = 8 * ELEMENTS[element_format_name(name)].width
    if options.dest not in (None, bits):
        message = f"element-wise programs in {element_format_name(name)} have a Dst of {bits} bits"
        raise input_error("PL1232", message, help="leave --dest out")
    return Arithmetic(name, 32, _FIDELITY, 32)


def _product_arithmetic(program: Program, name: Name, options: Any) -> Arithmetic:
    """Arithmetic of products. Sums that formulas may read have the format of elements; those of one product are stored
    as Dst has them.
    """
    dest: Dest = options.dest or 32
    if name == "i8" and dest == 16:
        raise input_error("PL1232", "products of i8 need a Dst of 32 bits", help="leave --dest 16 out")
    if not program.needs_elements:
        return Arithmetic(name, dest, options.fidelity, dest)
    if dest == 16 and name == "tf32":
        message = "a program of several stages in tf32 has a Dst of 32 bits"
        raise input_error("PL1232", message, help="leave --dest out, or add --format bf16")
    if name == "i8":
        if options.fidelity != _FIDELITY:
            raise input_error("PL1232", "i8 in several stages have no fidelity but 4", help="leave --fidelity out")
        _check_integers(program)
    return Arithmetic(name, dest, options.fidelity, 16 if name in ("bf16", "fp16") else 32)


def _check_integers(program: Program) -> None:
    """Check that no factor of an i8 product is computed: it has 32 bits. Errors: PL1232."""
    for stage in program.stages:
        made = [name for name in stage.reads if name in program.computed]
        if isinstance(stage, Product) and made:
            message = f"`{program.array_label(made[0])}` is computed in 32 bits, and a product takes integers of 8"
            raise input_error(
                "PL1232", message, span=stage.span, help="declare the arrays as f32, or make two programs"
            )


def _loop_oracles(source: Source, content: Content) -> tuple[Oracle, ...]:
    """Oracles of a program in loops: its source, its equations and the tile's arithmetic."""
    program = Oracle(EQUATIONS, loops.equations_name(source), partial(_equation_outputs, source, content))
    return _content_oracles(content, source.reference, program)


def _content_oracles(content: Content, reference: Reference, program: Oracle) -> tuple[Oracle, ...]:
    stages, how = content.program.stages, content.how
    # A single product is compared in the format of its sums; with formulas behind it, results have the format of
    # elements.
    is_alone = len(stages) == 1 and isinstance(stages[0], Product)
    packed = how.sums if is_alone else element_format(how).packed
    used = {step.name for formula in content.formulas.values() for step in formula.steps} & {*FUNCTIONS}
    help = bound_help(used, has_products=any(isinstance(stage, Product) for stage in stages))
    arithmetic, bounds = partial(_arithmetic_outputs, content), partial(_error_bounds, content)
    return loop_oracles(reference, program, arithmetic, bounds, packed, help)


def _arithmetic_outputs(content: Content, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    made = computed_datums(content, values, inputs)
    sums = {s.result for s in content.program.stages if isinstance(s, Product)}
    how, packed = content.how, element_format(content.how).packed
    # Fused sums stay in Dst, as formulas read them.
    made = {name: array for name, array in made.items() if name not in content.fused.values()}
    decoded = {n: (how.sums if n in sums else packed).decode(a).reshape(a.shape) for n, a in made.items()}
    return _select_outputs(content.program, values, decoded)


def _equation_outputs(source: Source, content: Content, values: Mapping[str, int], inputs: Arrays) -> Arrays:
    """Outputs of the program's equations. Small programs are interpreted as they stand; a large product is summed in
    its order with the interpreter's operations, and parallel loops of a large nest are computed together: both give the
    same bits.
    """
    program, nest = content.program, source.nest
    if not program.needs_elements and isinstance(stage := program.stages[0], Product):
        over = program.shapes[stage.left.array][[*map(str, stage.left.index)].index(stage.over)]
        if prod(n.evaluate(values) for n in (*program.shapes[stage.result], over)) > _SMALL:
            # The interpreter of equations takes a Python step per product, too slow for large matrices.
            return stage_interpret.interpret(program, values, inputs, fused=_has_fused_sums(source))
    elif nest is not None:
        return nest_outputs(source, values, inputs)
    return interpret(source.plan, values, inputs)


def _has_fused_sums(source: Source) -> bool:
    return any(e.operation == "madd" for phase in source.plan.phases for e in phase.program.equations)


def _error_bounds(content: Content, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    del expected
    with np.errstate(all="ignore"):
        made = error_bounds(content, values, inputs)
    return _select_outputs(content.program, values, {name: error for name, (_, error) in made.items()})


def _select_outputs(program: Program, values: Mapping[str, int], made: Mapping[str, Any]) -> dict[str, Any]:
    return {
        o.array: output_part(
            made[o.definition], tuple(at if isinstance(at, int) else -1 - at.evaluate(values) for at in o.at)
        ).reshape([extent.evaluate(values) for extent in program.shapes[o.array]])
        for o in program.outputs
    }


FORM: Final = Form("loops", "products and element-wise programs (.pla, .py, .c, .onnx)", loops.PLAN.accepts, _load)
