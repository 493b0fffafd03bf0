# SPDX-License-Identifier: Apache-2.0
"""A nest printed as C reads back as the same nest, and the C text computes what the nest means."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.frontend.c.helpers import KERNELS, canonical
from tests.frontend.python.helpers import Arrays, arguments, assert_same, meaning
from tests.transform.nest.programs import programs

from polyloom.frontend import c, python
from polyloom.frontend.convert import fold_constants
from polyloom.frontend.source import Options
from polyloom.ir.nest import Apply, Assign, Expression, Index, Loop, Nest, Storage
from polyloom.ir.nest_c import print_c
from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import ELEMENT_TYPES, FLOATS, OPERATIONS, ElementType, Operation, may_divide_by_zero
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron

pytest.importorskip("ziglang", reason="C needs the extra `c`")

OUTER, INNER, SIZE = map(Affine.symbol, ("i", "j", "N"))
STATEMENTS = 12


def read_back(nest: Nest) -> tuple[Nest, c.Reference]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "nest.c")
        path.write_text(print_c(nest), encoding="utf-8")
        found, reference = c.load(str(path), Options(function=nest.name))
        parameters = dict.fromkeys(nest.parameters, 3)
        inputs = _inputs(found, parameters)
        meant = meaning(nest, parameters, inputs)
        assert_same(meant, reference(parameters, inputs))
        assert_same(meant, meaning(found, parameters, inputs))
        return found, reference


def read_back_alike(nest: Nest) -> None:
    """The reader leaves out bounds and conditions that others imply, and folds constants; what it gives stays as it
    is."""
    once = read_back(nest)[0]
    assert canonical(read_back(once)[0]) == canonical(once)


def _inputs(nest: Nest, parameters: dict[str, int]) -> Arrays:
    """Values of both signs, but divisors."""
    found = arguments(nest, parameters)
    return {
        name: array if name.startswith("divisor") else (array * 3 - 4).astype(array.dtype)
        for name, array in found.items()
    } | {name: (array + 1).astype(array.dtype) for name, array in found.items() if name.startswith("divisor")}


@st.composite
def values(draw: st.DrawFn, dtype: ElementType, converts: bool, depth: int = 3) -> Expression:
    """Expressions of every operation and type; divisors are positive."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(_leaf(dtype))
    fitting = [o for o in OPERATIONS if _gives(o, dtype) and (converts or not o.gives)]
    operation = draw(st.sampled_from(fitting))
    sources: list[ElementType] = [t for t in ELEMENT_TYPES if operation.accepts_type(t)]
    inner = draw(st.sampled_from(sources)) if operation.compares or operation.gives else dtype
    operands = [draw(values(inner, converts, depth - 1)) for _ in range(operation.arity)]
    if operation.name == "select":
        operands[0] = draw(values("i32", converts, depth - 1))
    if may_divide_by_zero(operation.name, inner):
        operands[1] = draw(
            st.sampled_from(
                [
                    Constant(3, inner),
                    Constant(-2 if inner[0] == "i" else 2, inner),
                    Reference(f"divisor_{inner}", (OUTER,)),
                ]
            )
        )
    return Apply(operation.name, inner, tuple(operands))


def _gives(operation: Operation, dtype: ElementType) -> bool:
    """Whether the operation may give an element of the type."""
    if operation.compares or operation.gives:
        return dtype == ("i32" if operation.compares else operation.gives)
    return operation.accepts_type(dtype)


def _leaf(dtype: ElementType) -> st.SearchStrategy[Expression]:
    least, most = type_limits(dtype) or (0, 0)
    number = st.integers(least, most) | st.integers(max(least, -3), min(most, 3))
    if dtype in FLOATS:
        number = st.floats(width=32, allow_nan=False)
    constant = st.builds(Constant, number, st.just(dtype))
    index = st.sampled_from(
        [Index(form, dtype) for form in (OUTER, INNER * -2 + 1, OUTER + SIZE, SIZE * 3 - INNER - 7)]
    )
    element = st.sampled_from(
        [
            Reference(f"a_{dtype}", (OUTER,)),
            Reference(f"a_{dtype}", (SIZE - INNER - 1,)),
            Reference(f"x_{dtype}"),
            Reference(f"t_{dtype}"),
        ]
    )
    return element | element | constant if dtype == "bool" else element | element | constant | index


@st.composite
def computations(draw: st.DrawFn, converts: bool) -> Nest:
    """One nest of many statements, one after another in a loop up and a loop down."""
    storage = [Storage(f"{kind}_{dtype}", dtype, (SIZE,)) for dtype in ELEMENT_TYPES for kind in ("a", "divisor")]
    storage += [Storage(f"x_{dtype}", dtype, (), "argument", False) for dtype in ELEMENT_TYPES]
    storage += [Storage(f"s_{dtype}", dtype, ()) for dtype in ELEMENT_TYPES]
    storage += [Storage(f"t_{dtype}", dtype, (), "local") for dtype in ELEMENT_TYPES]
    body = [
        Assign(f"S{n + 1}", Reference(f"t_{dtype}"), Reference(f"x_{dtype}")) for n, dtype in enumerate(ELEMENT_TYPES)
    ]
    for n in range(STATEMENTS):
        dtype = draw(st.sampled_from(ELEMENT_TYPES))
        target = draw(
            st.sampled_from([Reference(f"a_{dtype}", (INNER,)), Reference(f"t_{dtype}"), Reference(f"s_{dtype}")])
        )
        body.append(Assign(f"S{n + 1 + len(ELEMENT_TYPES)}", target, draw(values(dtype, converts))))
    inner = Loop("j", (Affine(), OUTER + -1), (SIZE, OUTER + 1), tuple(body), -1)
    nest = Loop("i", (Affine(),), (SIZE,), (inner,))
    return Nest("compute", ("N",), Condition((Polyhedron((SIZE + -1,)),)), tuple(storage), (nest,))


@settings(max_examples=4)
@given(computations(converts=False))
def test_every_operation_reads_back(nest: Nest) -> None:
    read_back_alike(nest)


@settings(max_examples=4)
@given(computations(converts=True))
def test_conversions_keep_their_meaning(nest: Nest) -> None:
    """The reader leaves out those that change nothing."""
    assert {s.dtype for s in read_back(nest)[0].storage} == {s.dtype for s in nest.storage}


@settings(max_examples=15)
@given(programs())
def test_every_nest_reads_back(nest: Nest) -> None:
    read_back_alike(nest)


@pytest.mark.parametrize("name", ["fir", "cholesky", "fdtd2d", "lcs", "smith_waterman"])
def test_python_kernels_become_c_functions(name: str) -> None:
    nest, _ = python.load(str(KERNELS / f"{name}.py"), Options())
    assert canonical(read_back(nest)[0]) == canonical(nest)


def test_names_that_c_cannot_have_are_changed() -> None:
    n, i = Affine.symbol("int"), Affine.symbol("x.1")
    store = Assign("S1", Reference("linux", (i,)), Apply("add", "i32", (Reference("polyloom_x"), Index(i, "i32"))))
    storage = (Storage("linux", "i32", (n,)), Storage("polyloom_x", "i32", (), "argument", False))
    nest = Nest("float", ("int",), Condition((Polyhedron((n,)),)), storage, (Loop("x.1", (Affine(),), (n,), (store,)),))
    assert "void float_(int int_, int linux_[int_], int v_polyloom_x) {" in print_c(nest)


def test_constants_are_folded_in_their_own_types() -> None:
    """What a select decides by is no element of its type: 128 is no i8."""
    operands = Constant(128, "i32"), Constant(1, "i8"), Constant(2, "i8")
    assert fold_constants("select", "i8", operands, None) == Constant(1, "i8")
