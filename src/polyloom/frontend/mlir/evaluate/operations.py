# SPDX-License-Identifier: Apache-2.0
"""Python of each operation: scalars, memrefs as NumPy's views, tensors as arrays that no operation changes, loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
from xdsl.dialects import builtin
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineExpr, AffineMap

from polyloom.frontend.mlir.dialects.linalg_ops import NAMED
from polyloom.frontend.mlir.element_types import DYNAMIC, is_array_type, is_kind
from polyloom.frontend.mlir.evaluate import scalars, views
from polyloom.frontend.mlir.evaluate.formulas import evaluate_formula
from polyloom.frontend.mlir.evaluate.iteration_space import named_body, pooled_body, run_structured, softmax
from polyloom.frontend.mlir.evaluate.source import SourceBuilder, affine_text, numpy_type, set_text, storage_type
from polyloom.frontend.mlir.expanded_functions import EXPANDED
from polyloom.frontend.mlir.lowering.dispatch import called_operation
from polyloom.frontend.mlir.lowering.integers import FLOAT_PREDICATES, PREDICATES
from polyloom.frontend.mlir.lowering.iteration_space import parse_axes

_INDEX: Final = {
    "add": "addi",
    "sub": "subi",
    "mul": "muli",
    "divs": "divsi",
    # An index has no width here, so that a negative one has no value without a sign; of others both are the same.
    "divu": "divsi",
    "rems": "remsi",
    "remu": "remsi",
    "floordivs": "floordivsi",
    "ceildivs": "ceildivsi",
    "ceildivu": "ceildivsi",
    "and": "andi",
    "or": "ori",
    "xor": "xori",
    "shl": "shli",
    "shrs": "shrsi",
    "shru": "shrsi",
    "maxs": "maxsi",
    "mins": "minsi",
    "maxu": "maxsi",
    "minu": "minsi",
}
_REDUCTIONS: Final = {"maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui"}
_NEUTRAL: Final = {
    "addf": 0.0,
    "mulf": 1.0,
    "maximumf": -np.inf,
    "minimumf": np.inf,
    "maxnumf": -np.inf,
    "minnumf": np.inf,
    "addi": 0,
    "muli": 1,
    "andi": -1,
    "ori": 0,
    "xori": 0,
    "maxu": 0,
}


class Operations(SourceBuilder):
    """The operations of a function."""

    def operation(self, operation: Operation) -> None:
        dialect, _, name = operation.name.partition(".")
        # Python has these words itself.
        word = {"for": "loop", "if": "branch"}.get(name, name.replace(".", "_"))
        handler = getattr(self, f"{dialect}_{word}", None)
        if handler is None:
            handler = getattr(self, f"dialect_{dialect}", None)
        assert handler is not None, operation.name
        handler(operation)

    def compute(self, operation: Operation, function: Callable[..., Any]) -> None:
        """A scalar operation, also element by element."""
        self.set(operation.results[0], self.call(function, *self.operands(operation)))

    # Types of the functions' parameters: a lambda takes them from here.

    def compute_unary(self, operation: Operation, function: Callable[[Any], Any]) -> None:
        self.compute(operation, function)

    def compute_binary(self, operation: Operation, function: Callable[[Any, Any], Any]) -> None:
        self.compute(operation, function)

    def dialect_arith(self, operation: Any) -> None:
        name, kind = operation.name, operation.results[0].type
        tables = (scalars.UNARY, scalars.BINARY, scalars.TERNARY)
        found = next((t[name] for t in tables if name in t), None)
        if name in EXPANDED:
            found = partial(evaluate_formula, EXPANDED[name])
        if found is not None:
            self.compute(operation, found)
        elif name in ("arith.cmpi", "arith.cmpf"):
            known = PREDICATES if name == "arith.cmpi" else FLOAT_PREDICATES
            predicate: str = known[int(operation.properties["predicate"].value.data)]
            compare = scalars.compare_integers if name == "arith.cmpi" else scalars.compare_floats
            self.compute_binary(operation, lambda a, b: compare(predicate, a, b))
        elif name == "arith.constant":
            self.set(operation.results[0], self.bind(constant_value(operation.properties["value"], kind)))
        elif name == "arith.bitcast":
            self.compute_unary(operation, lambda x: scalars.bitcast(x, storage_type(kind)))
        else:
            self.conversion(operation, name.removeprefix("arith."), kind)

    dialect_math = dialect_arith

    def conversion(self, operation: Any, name: str, kind: Any) -> None:
        to = numpy_type(kind)
        match name:
            case "fptosi":
                self.compute_unary(operation, lambda x: scalars.saturate(x, to))
            case "fptoui":
                wide = scalars.UNSIGNED.get(np.dtype(to).name, to)
                self.compute_unary(operation, lambda x: scalars.convert(scalars.saturate(x, wide), to))
            case "extui" | "uitofp" | "index_castui":
                self.compute_unary(operation, lambda x: scalars.convert(scalars.unsigned(x), to))
            case "extsi" | "sitofp":
                # The one bit of a truth is its sign.
                self.compute_unary(operation, lambda x: scalars.convert(-x.astype(np.int32) if _is_bool(x) else x, to))
            case "trunci" if to is np.bool_:
                self.compute_unary(operation, lambda x: scalars.convert(x & x.dtype.type(1), to))
            case _:
                self.compute_unary(operation, lambda x: scalars.convert(x, to))

    def dialect_index(self, operation: Any) -> None:
        name, result = operation.name.removeprefix("index."), operation.results[0]
        if name in ("constant", "bool.constant"):
            self.set(result, self.bind(constant_value(operation.properties["value"], result.type)))
        elif name == "cmp":
            predicate: str = operation.properties["predicate"].data
            self.compute_binary(operation, lambda a, b: scalars.compare_integers(predicate, a, b))
        elif name in ("casts", "castu"):
            self.conversion(operation, "index_castui" if name == "castu" else "index_cast", result.type)
        else:
            self.compute(operation, scalars.BINARY[f"arith.{_INDEX[name]}"])

    # affine

    def affine_apply(self, operation: Any) -> None:
        found, operands = operation.properties["map"].data, self.operands(operation)
        texts = [affine_text(e, operands, found.num_dims) for e in found.results]
        name = operation.name.removeprefix("affine.")
        self.set(operation.results[0], texts[0] if len(texts) == 1 else f"{name}({', '.join(texts)})")

    affine_min = affine_max = affine_apply

    def access(self, operation: Any, first: int) -> str:
        operands, found = self.operands(operation), operation.properties.get("map")
        indices = operands[first + 1 :]
        if found is not None:
            indices = [affine_text(e, indices, found.data.num_dims) for e in found.data.results]
        return f"{operands[first]}[{self.call(views.check_index, operands[first], *indices)}]"

    def memref_load(self, operation: Any) -> None:
        text = self.access(operation, 0)
        # Indices are Python's integers, which do not wrap; arrays hold them in 32 bits.
        is_index = is_kind(operation.results[0].type, builtin.IndexType)
        self.set(operation.results[0], f"int({text})" if is_index else text)

    affine_load = tensor_extract = memref_load

    def memref_store(self, operation: Any) -> None:
        self.emit(f"{self.access(operation, 1)} = {self.operands(operation)[0]}")

    affine_store = memref_store

    def skip_operation(self, operation: Any) -> None:
        """Terminators, deallocations."""

    affine_yield = scf_yield = linalg_yield = tensor_yield = memref_dealloc = memref_assume_alignment = skip_operation
    scf_reduce = scf_reduce_return = memref_alloca_scope_return = skip_operation

    def loop(self, operation: Any, ends: str, block: Block, initial: list[str]) -> None:
        """A loop whose turns pass values on."""
        cells = [self.name(a) for a in block.args[1:]]
        self.assign_turn_values(cells, initial)
        self.emit(f"for {self.name(block.args[0])} in range({ends}):")
        self.block(block)
        self.margin += " "
        self.assign_turn_values(cells, self.terminator(block) if cells else [])
        self.margin = self.margin[:-1]
        for result, cell in zip(operation.results, cells, strict=True):
            self.set(result, cell)

    def assign_turn_values(self, cells: list[str], values: list[str]) -> None:
        if cells:
            # Python evaluates the whole right side first: a swap is a swap.
            self.emit(f"{', '.join(cells)}, = {', '.join(values)},")

    def scf_loop(self, operation: Any) -> None:
        operands = self.operands(operation)
        self.loop(operation, ", ".join(f"int({o})" for o in operands[:3]), operation.regions[0].block, operands[3:])

    def bound(self, found: AffineMap, operands: list[str], name: str) -> str:
        texts = [affine_text(e, operands, found.num_dims) for e in found.results]
        return texts[0] if len(texts) == 1 else f"{name}({', '.join(texts)})"

    def affine_loop(self, operation: Any) -> None:
        ends = list[str]()
        for kind, name in (("lower", "max"), ("upper", "min")):
            operands = [self.name(o) for o in getattr(operation, f"{kind}BoundOperands")]
            ends.append(self.bound(operation.properties[f"{kind}BoundMap"].data, operands, name))
        step = operation.properties["step"].value.data
        initial = [self.name(o) for o in operation.inits]
        self.loop(operation, f"{ends[0]}, {ends[1]}, {step}", operation.regions[0].block, initial)

    def scf_branch(self, operation: Any) -> None:
        operands = self.operands(operation)
        found = operation.properties.get("condition")
        test = operands[0] if found is None else set_text(found.data, operands)
        results = [self.name(r) for r in operation.results]
        for word, region in zip((f"if {test}", "else"), operation.regions, strict=True):
            self.emit(f"{word}:")
            if not region.blocks:
                self.emit(" pass")
                continue
            self.block(region.block)
            self.margin += " "
            self.assign_turn_values(results, self.terminator(region.block) if results else [])
            self.margin = self.margin[:-1]

    affine_branch = scf_branch

    def scf_parallel(self, operation: Any) -> None:
        count, operands = len(operation.lowerBound), self.operands(operation)
        ends = [", ".join(operands[n + k * count] for k in range(3)) for n in range(count)]
        block, cells = operation.regions[0].block, [self.name(r) for r in operation.results]
        self.assign_turn_values(cells, operands[3 * count :])

        def reduce() -> None:
            last = block.last_op
            assert last is not None
            for cell, operand, region in zip(cells, last.operands, last.regions, strict=True):
                arguments = [self.name(a) for a in region.block.args]
                self.emit(f"{arguments[0]}, {arguments[1]} = {cell}, {self.name(operand)}")
                for inner in region.block.ops:
                    self.operation(inner)
                self.emit(f"{cell} = {self.terminator(region.block)[0]}")

        self.parallel(block, ends, reduce)

    def scf_index_switch(self, operation: Any) -> None:
        numbers = [str(n) for n in operation.properties["cases"].get_values()]
        results, chosen = [self.name(r) for r in operation.results], self.name(operation.arg)
        words = [*(f"elif {chosen} == {n}" for n in numbers), "else"]
        self.emit("if False:")
        self.emit(" pass")
        for word, region in zip(words, [*operation.case_regions, operation.default_region], strict=True):
            self.emit(f"{word}:")
            self.block(region.block)
            self.margin += " "
            self.assign_turn_values(results, self.terminator(region.block) if results else [])
            self.margin = self.margin[:-1]

    def scf_forall(self, operation: Any) -> None:
        bounds = [
            self.mixed_texts(operation.properties[name], [self.name(v) for v in group])
            for name, group in (
                ("staticLowerBound", operation.lower),
                ("staticUpperBound", operation.upper),
                ("staticStep", operation.step),
            )
        ]
        block = operation.region.block
        for argument, initial, result in zip(
            block.args[len(bounds[0]) :], operation.outputs, operation.results, strict=True
        ):
            # The shared tensor becomes the result: every turn stores into it.
            self.set(result, f"{self.name(initial)}.copy()")
            self.set(argument, self.name(result))
        self.parallel(block, [", ".join(each) for each in zip(*bounds, strict=True)], lambda: None)

    def scf_forall_in_parallel(self, operation: Any) -> None:
        for inner in operation.region.block.ops:
            self.operation(inner)

    def tensor_parallel_insert_slice(self, operation: Any) -> None:
        source, target = self.operands(operation)[:2]
        self.emit(self.call(views.put_part, target, f"({self.slice_text(operation, 2)},)", source))

    def mixed_texts(self, static: Any, dynamic: list[str]) -> list[str]:
        """Numbers of which some are constants and some are values."""
        waiting = iter(dynamic)
        return [next(waiting) if n == DYNAMIC else str(n) for n in static.get_values()]

    def linalg_pack(self, operation: Any) -> None:
        padding = operation.padding_value
        self.packing(operation, views.pack, "None" if padding is None else self.name(padding))

    def linalg_unpack(self, operation: Any) -> None:
        self.packing(operation, views.unpack)

    tensor_pack, tensor_unpack = linalg_pack, linalg_unpack

    def packing(self, operation: Any, function: Callable[..., Any], *more: str) -> None:
        order = operation.outer_dims_perm
        lists: list[list[int]] = [
            list(operation.inner_dims_pos.get_values()),
            list(order.get_values()) if order else [],
        ]
        tiles = self.mixed_texts(operation.static_inner_tiles, [self.name(v) for v in operation.inner_tiles])
        names = [self.name(operation.source), self.name(operation.dest)]
        found = self.call(function, *names, *map(str, lists), f"[{', '.join(tiles)}]", *more)
        self.store_result(operation, found, names[1])

    def linalg_softmax(self, operation: Any) -> None:
        found = self.call(softmax, self.name(operation.input), str(operation.dimension.value.data))
        self.store_result(operation, found, self.name(operation.output))

    def store_result(self, operation: Any, found: str, target: str) -> None:
        """A result, or the elements of a memref."""
        if operation.results:
            self.set(operation.results[0], found)
        else:
            self.emit(f"{target}[...] = {found}")

    def parallel(self, block: Block, ends: list[str], reduce: Any) -> None:
        before = self.margin
        for argument, text in zip(block.args[: len(ends)], ends, strict=True):
            self.emit(f"for {self.name(argument)} in range({text}):")
            self.margin += " "
        # A body without operations.
        self.emit("pass")
        for inner in block.ops:
            self.operation(inner)
        reduce()
        self.margin = before

    def affine_parallel(self, operation: Any) -> None:
        first = operation.properties["lowerBoundsMap"].data
        split, operands = first.num_dims + first.num_symbols, self.operands(operation)
        bounds = list[list[str]]()
        for kind, name, values in (("lower", "max", operands[:split]), ("upper", "min", operands[split:])):
            found = operation.properties[f"{kind}BoundsMap"].data
            texts = [affine_text(e, values, found.num_dims) for e in found.results]
            made = list[str]()
            for count in operation.properties[f"{kind}BoundsGroups"].get_values():
                made.append(texts[0] if count == 1 else f"{name}({', '.join(texts[:count])})")
                texts = texts[count:]
            bounds.append(made)
        steps = [s.value.data for s in operation.properties["steps"].data]
        ends = [f"{a}, {b}, {s}" for a, b, s in zip(*bounds, steps, strict=True)]
        kinds = [r.data for r in operation.properties["reductions"].data]
        cells = [self.name(r) for r in operation.results]
        for cell, kind, result in zip(cells, kinds, operation.results, strict=True):
            self.emit(f"{cell} = {self.bind(storage_type(result.type)(_NEUTRAL[kind]))}")
        block = operation.regions[0].block

        def reduce() -> None:
            for cell, kind, value in zip(cells, kinds, self.terminator(block) if cells else [], strict=True):
                self.emit(f"{cell} = {self.call(scalars.BINARY[f'arith.{_REDUCTIONS.get(kind, kind)}'], cell, value)}")

        self.parallel(block, ends, reduce)

    def scf_execute_region(self, operation: Any) -> None:
        block = operation.regions[0].block
        for inner in block.ops:
            self.operation(inner)
        self.assign_turn_values([self.name(r) for r in operation.results], self.terminator(block))

    memref_alloca_scope = scf_execute_region

    # arrays

    def shape_text(self, kind: Any, dynamic: list[str]) -> str:
        waiting = iter(dynamic)
        return f"({', '.join(next(waiting) if n == DYNAMIC else str(n) for n in kind.get_shape())},)"

    def allocate(self, operation: Any) -> None:
        counts, operands = operation.properties.get("operandSegmentSizes"), self.operands(operation)
        dynamic = operands if counts is None else operands[: counts.get_values()[0]]
        kind = operation.results[0].type
        shape = self.shape_text(kind, dynamic) if kind.get_shape() else "()"
        self.set(operation.results[0], f"np.zeros({shape}, {self.bind(storage_type(kind))})")

    memref_alloc = memref_alloca = tensor_empty = linalg_init_tensor = allocate

    def bufferization_alloc_tensor(self, operation: Any) -> None:
        dynamic, copied, _ = operation.properties["operandSegmentSizes"].get_values()
        if copied:
            self.set(operation.results[0], f"{self.operands(operation)[dynamic]}.copy()")
        else:
            self.allocate(operation)

    def memref_dim(self, operation: Any) -> None:
        operands = self.operands(operation)
        self.set(operation.results[0], f"{operands[0]}.shape[{operands[1]}]")

    tensor_dim = memref_dim

    def memref_rank(self, operation: Any) -> None:
        self.set(operation.results[0], f"{self.operands(operation)[0]}.ndim")

    def forward(self, operation: Any) -> None:
        self.set(operation.results[0], self.operands(operation)[0])

    memref_cast = tensor_cast = memref_memory_space_cast = forward

    def copy_array(self, operation: Any) -> None:
        self.set(operation.results[0], f"{self.operands(operation)[0]}.copy()")

    bufferization_to_tensor = bufferization_clone = copy_array

    def bufferization_to_buffer(self, operation: Any) -> None:
        (self.forward if "read_only" in operation.properties else self.copy_array)(operation)

    bufferization_to_memref = bufferization_to_buffer

    def memref_copy(self, operation: Any) -> None:
        source, target = self.operands(operation)
        self.emit(f"{target}[...] = {source}")

    def bufferization_materialize_in_destination(self, operation: Any) -> None:
        self.memref_copy(operation)
        for result in operation.results:
            self.set(result, self.operands(operation)[1])

    def slice_text(self, operation: Any, first: int) -> str:
        """Slices of a subview."""
        counts = list(operation.properties["operandSegmentSizes"].get_values())[-3:]
        operands, parts = self.operands(operation)[first:], list[list[str]]()
        for key, count in zip(("static_offsets", "static_sizes", "static_strides"), counts, strict=True):
            waiting, operands = iter(operands[:count]), operands[count:]
            values = operation.properties[key].get_values()
            parts.append([next(waiting) if n == DYNAMIC else str(n) for n in values])
        return ", ".join(f"slice({o}, {o} + {n} * {s}, {s})" for o, n, s in zip(*parts, strict=True))

    def memref_subview(self, operation: Any) -> None:
        kind, source = operation.results[0].type, self.operands(operation)[0]
        text = self.slice_text(operation, 1)
        dynamic = [n if n != DYNAMIC else -1 for n in kind.get_shape()]
        self.set(operation.results[0], self.call(views.take_part, source, f"({text},)", str(dynamic)))

    def tensor_extract_slice(self, operation: Any) -> None:
        self.memref_subview(operation)
        self.set(operation.results[0], f"{self.name(operation.results[0])}.copy()")

    def tensor_insert_slice(self, operation: Any) -> None:
        source, target = self.operands(operation)[:2]
        text = self.slice_text(operation, 2)
        self.set(operation.results[0], f"{target}.copy()")
        self.emit(f"{self.call(views.put_part, self.name(operation.results[0]), f'({text},)', source)}")

    def tensor_insert(self, operation: Any) -> None:
        operands = self.operands(operation)
        self.set(operation.results[0], f"{operands[1]}.copy()")
        result = self.name(operation.results[0])
        self.emit(f"{result}[{self.call(views.check_index, result, *operands[2:])}] = {operands[0]}")

    def memref_collapse_shape(self, operation: Any) -> None:
        groups = [[n.value.data for n in g.data] for g in operation.properties["reassociation"].data]
        source = self.operands(operation)[0]
        self.set(operation.results[0], self.call(views.collapse, source, str(groups)))

    tensor_collapse_shape = memref_collapse_shape

    def memref_expand_shape(self, operation: Any) -> None:
        groups = [[n.value.data for n in g.data] for g in operation.properties["reassociation"].data]
        kind, operands = operation.results[0].type, self.operands(operation)
        waiting = iter(operands[1:])
        shape = [next(waiting, "-1") if n == DYNAMIC else str(n) for n in kind.get_shape()]
        text = self.call(views.expand, operands[0], str(groups), f"[{', '.join(shape)}]")
        self.set(operation.results[0], text)

    tensor_expand_shape = memref_expand_shape

    def memref_get_global(self, operation: Any) -> None:
        found: Any = self.module.symbols[operation.properties["name"].string_value()]
        value = constant_value(found.properties["initial_value"], operation.results[0].type)
        self.set(operation.results[0], f"{self.bind(value)}.copy()")

    def tensor_splat(self, operation: Any) -> None:
        operands, kind = self.operands(operation), operation.results[0].type
        self.set(operation.results[0], f"np.full({self.shape_text(kind, operands[1:])}, {operands[0]})")

    def tensor_from_elements(self, operation: Any) -> None:
        kind, texts = operation.results[0].type, ", ".join(self.operands(operation))
        made = f"np.array([{texts}], {self.bind(storage_type(kind))}).reshape({tuple(kind.get_shape())})"
        self.set(operation.results[0], made)

    def tensor_concat(self, operation: Any) -> None:
        axis = operation.properties["dim"].value.data
        self.set(operation.results[0], f"np.concatenate([{', '.join(self.operands(operation))}], {axis})")

    def tensor_pad(self, operation: Any) -> None:
        operands, counts = self.operands(operation), operation.properties["operandSegmentSizes"].get_values()
        groups = (operands[1 : 1 + counts[1]], operands[1 + counts[1] :])
        sides = list[str]()
        for key, values in zip(("static_low", "static_high"), groups, strict=True):
            waiting = iter(values)
            texts = [next(waiting) if n == DYNAMIC else str(n) for n in operation.properties[key].get_values()]
            sides.append(f"[{', '.join(texts)}]")
        body = self.body(operation.regions[0].block)
        self.set(operation.results[0], self.call(views.pad, operands[0], *sides, body))

    def body(self, block: Block) -> str:
        """A region as a function of its arguments."""
        name = f"f{len(self.lines)}_{len(self.objects)}"
        self.emit(f"def {name}({', '.join([*(self.name(a) for a in block.args), '*rest'])}):")
        before, self.around = getattr(self, "around", ""), name
        self.margin += " "
        self.emit(f"at_{name} = rest[-1] if rest else ()")
        for inner in block.ops:
            self.operation(inner)
        self.emit(f"return ({', '.join(self.terminator(block))},)")
        self.margin, self.around = self.margin[:-1], before
        return name

    around = ""

    def linalg_index(self, operation: Any) -> None:
        self.set(operation.results[0], f"at_{self.around}[{operation.properties['dim'].value.data}]")

    def dialect_linalg(self, operation: Any) -> None:
        inputs, outputs = list(operation.inputs), list(operation.outputs)
        maps, loops, body = self.structure(operation)
        targets = list[str]()
        for n, output in enumerate(outputs):
            if operation.results:
                # Tensors are values: the destination keeps its elements.
                self.set(operation.results[n], f"{self.name(output)}.copy()")
                targets.append(self.name(operation.results[n]))
            else:
                targets.append(self.name(output))
        sources = ", ".join(self.name(o) for o in inputs)
        listed = ", ".join(targets)
        self.emit(f"{self.bind(run_structured)}({self.bind(maps)}, {loops}, [{sources}], [{listed}], {body})")

    def structure(self, operation: Any) -> tuple[list[AffineMap], int, str]:
        name, count = operation.name.removeprefix("linalg."), len(operation.inputs)
        kind = operation.outputs[0].type
        rank = len(kind.get_shape())
        identity = AffineMap.identity(rank)
        if name == "generic":
            maps = [m.data for m in operation.properties["indexing_maps"].data]
            return maps, maps[0].num_dims, self.body(operation.bodies[0].block)
        if name == "map":
            return [identity] * (count + 1), rank, self.body(operation.bodies[0].block)
        if name == "reduce":
            axes = list(operation.properties["dimensions"].get_values())
            source = len(operation.inputs[0].type.get_shape())
            kept = AffineMap(source, 0, tuple(AffineExpr.dimension(n) for n in range(source) if n not in axes))
            both = [AffineMap.identity(source)] * count + [kept] * len(operation.outputs)
            return both, source, self.body(operation.bodies[0].block)
        copy = self.bind(_copy)
        if name == "transpose":
            order = list(operation.properties["permutation"].get_values())
            place = tuple(AffineExpr.dimension(n) for n in order)
            return [identity, AffineMap(rank, 0, place)], rank, copy
        if name == "broadcast":
            new = operation.properties["dimensions"].get_values()
            kept = AffineMap(rank, 0, tuple(AffineExpr.dimension(n) for n in range(rank) if n not in new))
            return [kept, identity], rank, copy
        row, dtype = NAMED[name], storage_type(kind)
        if row.axes:
            windows = row.axes.split(",")[0].count("(")
            strides, dilations = (_numbers(operation, k, windows) for k in ("strides", "dilations"))
            maps, loops = parse_axes(row.axes, strides, dilations)
            given = operation.attributes.get("indexing_maps")
            if is_kind(given, builtin.ArrayAttr):
                maps = [m.data for m in given.data]
                loops = maps[0].num_dims
            is_product = row.body in ("product", "quantized")
            made = named_body(row.body, count, dtype) if is_product else pooled_body(row.body, dtype)
            return list(maps), loops, self.bind(made)
        scalar = AffineMap(rank, 0, ())
        maps = [identity if is_array_type(o.type) else scalar for o in (*operation.inputs, *operation.outputs)]
        return maps, rank, self.bind(named_body(row.body, count, dtype))

    # functions

    def func_call(self, operation: Any) -> None:
        name = operation.properties["callee"].string_value()
        own = called_operation(name)
        if own is not None and name not in self.module.functions:
            kind = storage_type(operation.results[0].type)
            self.compute(operation, partial(scalars.apply_typed, *own, kind))
            return
        called = self.module.functions[name]
        block = called.body.block
        for argument, operand in zip(block.args, operation.operands, strict=True):
            self.set(argument, self.name(operand))
        outer, self.returned = getattr(self, "returned", None), [self.name(r) for r in operation.results]
        for inner in block.ops:
            self.operation(inner)
        self.returned = outer

    returned: list[str] | None = None

    def func_return(self, operation: Any) -> None:
        if self.returned is None:
            self.emit(f"return ({''.join(f'{o}, ' for o in self.operands(operation))})")
        else:
            self.assign_turn_values(self.returned, self.operands(operation))


def _copy(x: Any, *rest: Any) -> tuple[Any]:
    del rest
    return (x,)


def _is_bool(x: Any) -> bool:
    return not isinstance(x, int) and x.dtype == np.bool_


def _numbers(operation: Any, key: str, count: int) -> list[int]:
    found = operation.attributes.get(key) or operation.properties.get(key)
    values = [1] if found is None else [int(n) for n in found.get_values()]
    return values * count if len(values) == 1 else values


def constant_value(attribute: Any, kind: Any) -> Any:
    """A constant of the text, as a number or an array."""
    to = numpy_type(kind)
    if is_kind(attribute, builtin.DenseIntOrFPElementsAttr):
        shape = tuple(kind.get_shape())
        values = np.array(list(attribute.get_values()))
        wide = values.astype(np.float64 if np.dtype(storage_type(kind)).kind == "f" else np.int64)
        found = np.broadcast_to(wide.reshape(()), shape) if wide.size == 1 else wide.reshape(shape)
        return found.astype(storage_type(kind))
    value = attribute.value.data
    return int(value) if to is int else np.asarray(value).astype(to)[()]
