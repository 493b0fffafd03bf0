# SPDX-License-Identifier: Apache-2.0
"""Nest of an MLIR function: its indices and the integers that become indices are parameters, a dynamic extent is a
size of its own, `A_0` of the first axis of `%A`, unless the function says that it is another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from polyloom.analysis.privatizable import upward_exposed
from polyloom.diagnostics import PolyloomError, nearest
from polyloom.frontend.c.extents import extent_assumptions
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.body import lower_body
from polyloom.frontend.loops.roles import Roles
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE
from polyloom.frontend.mlir.element_types import DYNAMIC, element_type, is_array_type, is_integer, is_kind
from polyloom.frontend.mlir.extents import infer_extents
from polyloom.frontend.mlir.lowering.dispatch import Lowering
from polyloom.frontend.mlir.lowering.values import Number, Value, View, element_node, size_node
from polyloom.frontend.mlir.reader import Module
from polyloom.ir.arrays.quotients import read_affine
from polyloom.ir.nest import Nest, accesses, assignments, data_symbols, depends_on_symbols
from polyloom.ir.nest_c import default_assumptions
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction
from polyloom.transform.dataflow import check_defined

SHAPE: Final = "polyloom.shape"
"""Attribute of an argument: its extents, as texts such as "N + 1"."""
ASSUME: Final = "polyloom.assume"
"""Attribute of a function: what its sizes satisfy, as texts that are at least 0."""


def build_nest(module: Module, function: FuncOp, *, indirect: bool = False) -> Nest:
    """The nest that a function means, with calls of the library; with `indirect`, indices and bounds may be data.
    Raises PL0172 to PL0176."""
    return _Function(module, function).nest(indirect)


class _Function:
    """Arguments and results of a function around the lowering of its body."""

    def __init__(self, module: Module, function: FuncOp) -> None:
        self.module, self.function = module, function
        self.lowering = Lowering(module)
        self.sizes, self.dynamic = list[str](), list[str]()
        # Results that are arrays of the function itself.
        self.made = set[str]()

    def nest(self, indirect: bool) -> Nest:
        lowering, function = self.lowering, self.function
        at = lowering.span(function)
        if len(function.body.blocks) != 1:
            help = "lower it to structured loops and branches: scf or affine"
            raise lowering.refuse("PL0176", "the function has several blocks", function, help)
        arguments = list(function.body.block.args)
        names = [lowering.fresh_value_name(a, f"arg{a.index}") for a in arguments]
        attributes = _argument_attributes(function)
        values = [self.argument(a, n, attributes[a.index]) for a, n in zip(arguments, names, strict=True)]
        results = lowering.expand(function, values)
        self.store_results(results)
        # Arguments by value are storage of rank 0, or parameters.
        parameters = tuple(self.sizes)
        assumed = (*map(self.read_form, _texts(function.attributes.get(ASSUME))), *lowering.assumed)
        for name in sorted({symbol for form in assumed for symbol in form.symbols} - set(parameters)):
            help = nearest(name, parameters, "size")
            raise lowering.refuse("PL0173", f"{ASSUME} names the size {name}, which there is not", function, help)
        domain = conjunction(
            default_assumptions(parameters, lowering.storage.values()), Condition((Polyhedron(assumed),))
        )
        identities = frozenset(parameters)
        scope = Scope(lowering.symbols, lowering.storage, {}, frozenset(lowering.loops), domain=domain)
        counters = frozenset(lowering.counters)
        roles = Roles(frozenset(lowering.loops), identities, frozenset(lowering.assigned), counters)
        passed = [
            Node("parameter", at, CTYPE[s.dtype] + "*" * bool(s.shape), name=s.name, symbol=key)
            for key, s in lowering.storage.items()
            if s.role == "argument"
        ]
        try:
            nodes, assumptions, storage = lower_body(
                lowering.statements, passed, roles, scope, parameters, indirect=indirect
            )
        except PolyloomError as error:
            raise translate_refusal(error) from None
        used = {r.name for a in assignments(nodes) for r in (a.target, *accesses(a.value))}
        symbols = _used_symbols(nodes)
        kept = tuple(s for s in storage if s.role == "argument" or s.name in used | symbols)
        made = Nest(function.sym_name.data, parameters, conjunction(domain, assumptions), kept, nodes, at)
        found = infer_extents(made, lowering.equal, frozenset(self.dynamic))
        if not depends_on_symbols(found.body, data_symbols(found)):
            # An index that is an argument is within the arrays that it indexes.
            found = replace(found, assumptions=extent_assumptions(found))
            self.check_owned(found)
        return found

    def check_owned(self, nest: Nest) -> None:
        """Errors: PL0250 for an array of the function's own that is read before it is assigned. A caller gives
        arguments their values, but nobody those of such an array, also where it is a result.
        """
        # In MLIR its elements have any value. A run would compare zeros with zeros, and call that equal.
        owned = self.made | {s.name for s in nest.storage if s.role == "local" and s.shape}
        exposed = {name for name in owned if upward_exposed(nest.body, name)}
        if not exposed:
            return
        storage = tuple(replace(s, role="local") if s.name in exposed else s for s in nest.storage)
        try:
            check_defined(replace(nest, storage=storage))
        except PolyloomError as error:
            # Where the origin of a value is not affine, nothing is known.
            if error.code == "PL0250":
                raise

    def argument(self, value: Any, name: str, attributes: dict[str, Any]) -> Value:
        """What an argument stands for."""
        lowering, kind = self.lowering, value.type
        at = lowering.span(self.function)
        if is_array_type(kind):
            shape = [size_node(form, at) for form in self.shape(kind, name, attributes)]
            return lowering.argument_array(name, value, shape, self.function, attributes)
        if is_kind(kind, builtin.UnrankedMemRefType | builtin.UnrankedTensorType):
            lowering.array_type(kind, self.function)
        dtype = element_type(kind)
        # Parameters are sizes, which every machine knows before it starts; other scalars are data in memory.
        if is_integer(kind) and (is_kind(kind, builtin.IndexType) or dtype is None or _counts(value)):
            lowering.symbols[name] = Affine.symbol(name)
            self.sizes.append(name)
            node = make.size(Affine.symbol(name), at)
            return Number(dtype, None, node)
        if dtype is None:
            help = "element types are i1, integers of 8, 16 and 32 bits, index, f16, f32 and f64; use one of these"
            raise lowering.refuse("PL0173", f"the argument %{name} of the type {kind} is no data", self.function, help)
        lowering.add_storage(name, dtype, (), "argument", at, writable=False)
        node = make.reference(name, name, CTYPE[dtype], at)
        return Number(dtype, node, truth=node if dtype == "bool" else None)

    def shape(self, kind: Any, name: str, attributes: dict[str, Any]) -> Iterator[Affine]:
        """Extents of an argument: constants, those that an attribute names, or sizes of their own."""
        written = _texts(attributes.get(SHAPE))
        if written and len(written) != len(kind.get_shape()):
            message = f"{SHAPE} names {len(written)} extents of {len(kind.get_shape())} axes"
            raise self.lowering.refuse("PL0173", message, self.function, "name one for each axis")
        for n, extent in enumerate(kind.get_shape()):
            if written:
                form = self.read_form(written[n])
                for symbol in sorted(form.symbols):
                    self.add_size(symbol)
                yield form
            elif extent != DYNAMIC:
                yield Affine((), extent)
            else:
                size = fresh_name(f"{name}_{n}", self.lowering.taken)
                self.dynamic.append(size)
                self.add_size(size)
                yield Affine.symbol(size)

    def read_form(self, text: str) -> Affine:
        """An affine form of an attribute. Raises PL0173."""
        try:
            return read_affine(text)
        except ValueError:
            help = 'write sums of sizes and constants: polyloom.shape = ["N", "N + 1"]'
            message = f"`{text}` is no affine form of sizes"
            raise self.lowering.refuse("PL0173", message, self.function, help) from None

    def add_size(self, name: str) -> None:
        if name not in self.sizes:
            self.sizes.append(name)
            self.lowering.symbols[name] = Affine.symbol(name)
            self.lowering.taken.add(name)

    def store_results(self, results: tuple[Value, ...]) -> None:
        """Results are arguments that the function writes, `result`, or `result0` and so on of several."""
        lowering, returned = self.lowering, self.function.body.block.last_op
        assert returned is not None
        at = lowering.span(returned)
        for n, value in enumerate(results):
            name = fresh_name("result" if len(results) == 1 else f"result{n}", lowering.taken)
            if isinstance(value, Number):
                node, dtype = lowering.number_data(value, returned, str(returned.operands[n].type))
                target = lowering.passed_array(name, dtype, (), returned)
                lowering.assign(element_node(target, (), at), node, at)
            # A memref that is returned is the caller's own; a tensor is a new value, even if it has an argument's
            # elements.
            elif self.is_argument(value) and not str(returned.operands[n].type).startswith("tensor"):
                continue
            elif not self.rename(value, name):
                target = lowering.passed_array(name, value.dtype, value.shape, returned)
                lowering.copy_elements(value, target, at)

    def is_argument(self, value: View) -> bool:
        return self.lowering.storage[value.identity].role == "argument"

    def rename(self, value: View, name: str) -> bool:
        """A local array that is returned as a whole is the result itself."""
        storage = self.lowering.storage[value.identity]
        forms = [self.lowering.extent_form(s) for s in value.shape]
        at = self.lowering.span(self.function)
        probe = [make.reference(f"${n}", f"d{n}", "integer", at) for n in range(value.rank)]
        is_whole = tuple(value.place(probe)) == tuple(probe)
        if storage.role == "argument" or not storage.shape or tuple(forms) != storage.shape or not is_whole:
            return False
        self.lowering.storage[value.identity] = replace(storage, name=name, role="argument")
        self.made.add(name)
        return True


def _argument_attributes(function: FuncOp) -> list[dict[str, Any]]:
    count = len(function.body.block.args)
    found = function.arg_attrs
    return [{}] * count if found is None else [dict(each.data) for each in found.data]


def _texts(attribute: Any) -> list[str]:
    if not is_kind(attribute, builtin.ArrayAttr):
        return []
    return [str(getattr(each, "data", "")) for each in attribute.data]


def _counts(value: SSAValue) -> bool:
    """Whether an integer argument becomes an index or bounds a loop, perhaps behind arithmetic (a forward slice)."""
    waiting, seen = [value], {value}
    while waiting:
        for use in waiting.pop().uses:
            operation = use.operation
            if operation.name in ("arith.index_cast", "index.casts", "arith.index_castui", "index.castu"):
                return True
            if operation.name == "scf.for" and use.index < 3:
                return True
            if operation.name in _PASSING:
                new = [r for r in operation.results if r not in seen and is_integer(r.type)]
                seen.update(new)
                waiting += new
    return False


_PASSING: Final = frozenset(
    f"arith.{name}" for name in ("addi", "subi", "muli", "divsi", "extsi", "extui", "trunci", "floordivsi")
)


def _used_symbols(nodes: Any) -> frozenset[str]:
    from polyloom.ir.nest_rewrite import mentioned_symbols

    return mentioned_symbols(nodes)


_CODES: Final = {
    "PL0156": "PL0174",
    "PL0158": "PL0174",
    "PL0159": "PL0174",
    "PL0160": "PL0174",
    "PL0162": "PL0174",
    "PL0163": "PL0172",
    "PL0164": "PL0172",
    "PL0154": "PL0173",
    "PL0157": "PL0172",
    "PL0161": "PL0174",
    "PL0165": "PL0174",
}
_HELP: Final = "indices, bounds and conditions are sums of loops, sizes and constants; on RISC-V and belt, also data"


def translate_refusal(error: PolyloomError) -> PolyloomError:
    """Refusals of the reader of loops, in the codes and the words of MLIR."""
    found = [replace(d, code=_CODES[d.code], help=_HELP) if d.code in _CODES else d for d in error.diagnostics]
    return PolyloomError(*found)
