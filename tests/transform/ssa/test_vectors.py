# SPDX-License-Identifier: Apache-2.0
"""Vectors, masks and address spaces: they print and read back, obey the verifier, and compute lane by lane what NumPy
computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Golden

from polyloom.analysis.liveness import liveness
from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import COMPARISONS, FLOAT_COMPARISONS, Block, Function, Instruction, Return, Value
from polyloom.ir.ssa_interpret import Given, evaluate, interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import F32, F64, I1, I8, I16, I32, I64, Type
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct
from polyloom.transform.ssa.if_convert import if_convert

EVERYTHING = """\
pointers 32
external @v_swap(i32x8, i32x8) -> (i32x8, i32x8) none
external @v_store(f32xN, ptr.3) reads writes ordered
external @v_tick() -> i32 ordered
function everything(%p: ptr, %q: ptr.3, %x: f32xN, %a: i32x8, %b: i32x8) -> i32x8 {
entry:
    %s: i32x8, %t: i32x8 = call @v_swap %a, %b !3
    call @v_store %x, %q
    %m: maskx8 = slt %s, 4:i32x8
    %n: maskx8 = xor %m, 1:maskx8
    %c: i32x8 = select %m, %s, undef:i32x8
    %i: i32x8 = iota
    %k: i32 = extract %c, 3:i32
    %d: i32x8 = insert %c, %k, 0:i32
    %e: i32x8 = splat %k
    %h: f32xN = fadd %x, 1.5:f32xN
    %l: i32x8 = load %p, %n, %e align 4
    store %l, %p, %m align 4 volatile
    %g: ptrx8 = splat %p
    %o: i32x8 = shl %i, 2:i32x8
    %r: ptrx8 = offset %g, %o
    %u: i32x8 = load %r align 4
    store %u, %r, %n align 4
    %v: i32 = call reduce.add %u
    %w: i1 = call reduce.or %n
    %y: i32 = load %q align 4
    branch %w, done(%d), done(%u)
done(%z: i32x8):
    return %z
}
"""
HEAD = "function f(%a: i32x4, %b: i32x8, %m: maskx4, %x: f32x4, %p: ptr, %q: ptr.2) -> i32x4 {\nentry:\n"
BROKEN = {
    "lanes": "%r: i32x4 = add %a, %b",
    "element": "%r: i32x4 = fadd %a, %a",
    "comparison": "%r: i32x4 = slt %a, %a",
    "mask of another length": "%r: i32x8 = select %m, %b, %b",
    "masked load without others": "%r: i32x4 = load %p, %m align 4",
    "masked load of a scalar": "%r: i32 = load %p, %m, 0:i32 align 4",
    "splat": "%r: i32x4 = splat 1:i64",
    "extract": "%r: i64 = extract %a, 0:i32",
    "insert": "%r: i32x4 = insert %a, 0:i32, 0:i64",
    "iota of floats": "%r: f32x4 = iota",
    "iota of a scalar": "%r: i32 = iota",
    "reduction": "%r: i32 = call reduce.fadd %a",
    "reduction of a scalar": "%r: i32 = call reduce.add 1:i32",
    "atomic": "%r: i32x4 = load %p align 4 acquire",
    "offset": "%r: ptrx4 = offset %p, 0:i64x4",
    "space": "%r: ptr = offset %q, 8:i64",
    "width of an address": "%r: i32 = ptrtoint %p",
    "several results": "%r: i32x4, %s: i32x4 = add %a, %a",
    "pointers and numbers": "%r: i32x4 = add %a, %p",
    "an unknown function": "%r: i32x4 = call @nothing %a",
    "bitcast": "%r: f32x4 = bitcast %b",
}
EXTERNAL = "external @g(i32x4) -> (i32x4, i32) none\n"
CALLS = {
    "results": "%r: i32x4 = call @g %a",
    "types of results": "%r: i32x4, %s: i64 = call @g %a",
    "operands": "%r: i32x4, %s: i32 = call @g %b",
}
PROGRAMS = {
    "pointers of two widths": "pointers 32\n" + HEAD + "    %r: i64 = ptrtoint %p\n    return %a\n}\n",
    "a wide address": "pointers 32\nfunction f() -> ptr {\nentry:\n    return 4294967296:ptr\n}\n",
    "twice": EXTERNAL + EXTERNAL + HEAD + "    return %a\n}\n",
    "inside and outside": "external @f(i32) none\n" + HEAD + "    return %a\n}\n",
}
WRONG = {
    "pointers": "pointers 16\n" + HEAD,
    "effects": "external @f(i32) writes reads\n" + HEAD,
    "no effects": "external @f(i32)\n" + HEAD,
    "a type": "external @f(i32y8) none\n" + HEAD,
    "a mask": HEAD + "    %r: i1x4 = eq %a, %a\n}",
    "a constant": HEAD + "    %r: i32x4 = add %a, 3000000000:i32x4\n}",
}


def test_prints_what_it_reads() -> None:
    function = read(EVERYTHING)
    assert print_ssa(function) == EVERYTHING
    assert read(print_ssa(function, places=True)) == function
    assert verify(function) is function
    for change in (common, dce, if_convert, construct):
        changed = verify(change(function))
        assert print_ssa(read(print_ssa(changed))) == print_ssa(changed)
    assert "%a, %b" in print_ssa(destruct(function))


def _message(text: str) -> str:
    with pytest.raises(PolyloomError) as caught:
        verify(read(text, "f.ssa"))
    return str(caught.value)


def test_broken_rules(golden: Golden) -> None:
    """Each is the whole function but for one instruction."""
    assert verify(read(HEAD + "    return %a\n}"))
    texts = {name: f"{HEAD}    {line}\n    return %a\n}}" for name, line in BROKEN.items()}
    texts |= {
        f"call: {name}": f"{EXTERNAL}{HEAD}    {line}\n    return %a\n}}" for name, line in CALLS.items()
    } | PROGRAMS
    golden("vectors-broken", "\n\n".join(f"{name}\n{_message(text)}" for name, text in texts.items()))


def test_wrong_texts(golden: Golden) -> None:
    golden("vectors-wrong", "\n\n".join(f"{name}\n{_message(text)}" for name, text in WRONG.items()))


NUMPY: dict[Type, Any] = {I8: np.int8, I16: np.int16, I32: np.int32, I64: np.int64, F32: np.float32, F64: np.float64}
INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
CALLED: dict[str, Callable[[Any, Any], Any]] = {"smin": np.minimum, "smax": np.maximum}
FLOATING: dict[str, Callable[[Any, Any], Any]] = {
    "fadd": np.add,
    "fsub": np.subtract,
    "fmul": np.multiply,
    "fdiv": np.divide,
}
RELATIONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def _function(operation: str, operands: tuple[Value, ...], result: Type, callee: str = "") -> Function:
    made = Value("r", result)
    return Function(
        "f",
        result,
        (Block("entry", operands, (Instruction(operation, operands, (made,), callee=callee),), Return(made)),),
    )


@st.composite
def vectors(draw: st.DrawFn, types: tuple[Type, ...]) -> tuple[Type, Any, Any]:
    """A vector's type, and two of them as NumPy has them, in which equal lanes and zeros are not rare."""
    lanes = draw(st.integers(1, 9))
    type = draw(st.sampled_from(types))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    if type in (F32, F64):
        pair = random.normal(size=(2, lanes)) * 10.0 ** random.integers(-3, 4, (2, lanes))
    else:
        info = np.iinfo(NUMPY[type])
        pair = random.integers(info.min, info.max, (2, lanes), NUMPY[type], endpoint=True)
    pair[:, random.random(lanes) < 0.2] = 0
    return type.with_lanes(lanes), *pair.astype(NUMPY[type])


@given(vectors((I8, I16, I32, I64)), st.sampled_from(sorted((*INTEGER, *CALLED))))
def test_integers_are_those_of_numpy(pair: tuple[Type, Any, Any], name: str) -> None:
    type, a, b = pair
    operands = Value("a", type), Value("b", type)
    function = _function("call", operands, type, name) if name in CALLED else _function(name, operands, type)
    with np.errstate(all="ignore"):
        expected = (CALLED if name in CALLED else INTEGER)[name](a, b)
    assert evaluate(verify(function), [a, b]) == tuple(expected.tolist())
    assert verify(read(print_ssa(function))) == function


@given(vectors((F32, F64)), st.sampled_from(sorted(FLOATING)))
def test_floats_are_those_of_numpy(pair: tuple[Type, Any, Any], name: str) -> None:
    type, a, b = pair
    function = _function(name, (Value("a", type), Value("b", type)), type)
    with np.errstate(all="ignore"):
        expected = FLOATING[name](a, b)
    found = np.array(evaluate(verify(function), [a, b]), expected.dtype)
    np.testing.assert_array_equal(found, expected)


@given(vectors((I8, I16, I32, I64, F32, F64)), st.data())
def test_comparisons_give_masks_that_choose(pair: tuple[Type, Any, Any], data: st.DataObject) -> None:
    type, a, b = pair
    is_float = type.scalar in (F32, F64)
    name = data.draw(
        st.sampled_from([c for c in (FLOAT_COMPARISONS if is_float else COMPARISONS) if c[-2:] in RELATIONS])
    )
    views = (a, b) if is_float or name[0] != "u" else (x.view(x.dtype.str.replace("i", "u")) for x in (a, b))
    expected = RELATIONS[name[-2:]](*views)
    mask = I1.with_lanes(type.lanes)
    operands = Value("a", type), Value("b", type)
    compare = Instruction(name, operands, (Value("m", mask),))
    choose = Instruction("select", (Value("m", mask), *operands), (Value("r", type),))
    function = Function("f", type, (Block("entry", operands, (compare, choose), Return(Value("r", type))),))
    assert evaluate(_function(name, operands, mask), [a, b]) == tuple(map(int, expected))
    chosen = [x if taken else y for taken, x, y in zip(expected.tolist(), a.tolist(), b.tolist(), strict=True)]
    assert evaluate(verify(function), [a, b]) == tuple(chosen)


@given(vectors((I8, I32, I64, F32, F64)), st.integers(0, 511), st.booleans())
def test_memory_by_mask_and_by_lane(pair: tuple[Type, Any, Any], bits: int, scattered: bool) -> None:
    """A masked copy of what an array has into another one, contiguous or through one address per lane, backwards."""
    type, a, b = pair
    count, size = len(a), a.dtype.itemsize
    mask = np.array([bits >> k & 1 for k in range(count)])
    order = np.arange(count)[::-1] if scattered else np.arange(count)
    places = "%q" if not scattered else "%w"
    text = f"""function f(%p: ptr, %q: ptr, %m: maskx{count}) {{
entry:
    %i: i64x{count} = iota
    %k: i64x{count} = sub {count - 1}:i64x{count}, %i
    %d: i64x{count} = mul %k, {size}:i64x{count}
    %s: ptrx{count} = splat %q
    %w: ptrx{count} = offset %s, %d
    %v: {type} = load %p, %m, undef:{type} align {size}
    store %v, {places}, %m align {size}
    return
}}
"""
    target = b.copy()
    assert interpret(verify(read(text)), [a, target, mask]) is None
    expected = b.copy()
    for lane in range(count):
        if mask[lane]:
            expected[order[lane]] = a[lane]
    np.testing.assert_array_equal(target, expected)


@given(vectors((I8, I16, I32, I64)))
def test_reductions(pair: tuple[Type, Any, Any]) -> None:
    type, a, _ = pair
    value = Value("a", type)
    folds = {
        "add": np.add,
        "mul": np.multiply,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "smin": np.minimum,
        "smax": np.maximum,
    }
    for name, fold in folds.items():
        with np.errstate(all="ignore"):
            expected = int(fold.reduce(a, dtype=a.dtype))
        assert evaluate(verify(_function("call", (value,), type.scalar, f"reduce.{name}")), [a]) == expected


def test_a_sum_of_floats_goes_from_lane_to_lane() -> None:
    a = np.array([1e8, 1.0, -1e8, 1.0], np.float32)
    function = _function("call", (Value("a", F32.with_lanes(4)),), F32, "reduce.fadd")
    assert evaluate(function, [a]) == float(((a[0] + a[1]) + a[2]) + a[3])


def test_masks_reduce_to_any_and_all() -> None:
    mask = Value("m", I1.with_lanes(4))
    assert [
        evaluate(_function("call", (mask,), I1, name), [[1, 0, 1, 1]])
        for name in ("reduce.or", "reduce.and", "reduce.add")
    ] == [1, 0, 1]


NAMED = """function f(%p: ptr, %x: i32xN) -> i32 {
entry:
    %i: i32xN = iota
    %s: i32xN = mul %x, %i
    store %s, %p align 4
    %t: i32 = call reduce.add %s
    return %t
}
"""


@pytest.mark.parametrize("count", [1, 3, 8])
def test_named_lanes_are_as_many_as_is_said(count: int) -> None:
    array = np.zeros(count, np.int32)
    assert interpret(read(NAMED), [array, [2] * count], lanes={"N": count}) == sum(2 * k for k in range(count))
    assert array.tolist() == [2 * k for k in range(count)]


FAULTS = {
    "one lane has no value": "%s: i32x4 = shl %x, 33:i32x4\n    %t: i32x4 = insert %x, 1:i32, 4:i32\n    return %s",
    "a lane beyond the last": "%s: i32 = extract %x, 7:i32\n    %t: i32x4 = splat %s\n    return %t",
    "a lane divides by zero": "%s: i32x4 = sdiv 1:i32x4, %x\n    return %s",
    "a mask without a value": "%m: maskx4 = eq %x, undef:i32x4\n    store %x, %p, %m align 4\n    return %x",
    "beyond the array": "%s: i32x4 = load %p align 4\n    return %s",
    "not aligned": "%q: ptr = offset %p, 2:i64\n    %s: i32x4 = load %q align 4\n    return %s",
}


def test_faults(golden: Golden) -> None:
    texts: list[str] = []
    for name, body in FAULTS.items():
        function = verify(read(f"function f(%p: ptr, %x: i32x4) -> i32x4 {{\nentry:\n    {body}\n}}\n"))
        with pytest.raises(PolyloomError) as caught:
            evaluate(function, [np.zeros(3, np.int32), [1, 2, 0, 3]])
        texts.append(f"{name}\n{caught.value}")
    array = np.zeros(3, np.int32)
    cases: list[tuple[list[Given], dict[str, int] | None]] = [
        ([array, [1, 2]], None),
        ([array, [1, 2]], {"N": 3}),
        ([array, 1], {"N": 1}),
        ([array, []], {"N": 0}),
    ]
    for given_, lanes in cases:
        with pytest.raises(PolyloomError) as caught:
            interpret(read(NAMED), given_, lanes=lanes)
        texts.append(f"{given_[1]} {lanes}\n{caught.value}")
    with pytest.raises(PolyloomError) as caught:
        interpret(read(EXTERNAL + HEAD + "    return %a\n}\n"), [[1] * 4, [1] * 8, [1] * 4, [1.0] * 4, 0, 0])
    texts.append(f"a vector as a result\n{caught.value}")
    golden("vectors-faults", "\n\n".join(texts))


def test_a_lane_without_a_value_harms_only_itself() -> None:
    """What is not asked for may be undefined; a select by mask leaves it out."""
    text = """function f(%x: i32x4) -> i32x4 {
entry:
    %s: i32x4 = shl 1:i32x4, %x
    %m: maskx4 = ult %x, 32:i32x4
    %r: i32x4 = select %m, %s, 0:i32x4
    return %r
}
"""
    assert evaluate(verify(read(text)), [[0, 40, 3, -1]]) == (1, 0, 8, 0)
    with pytest.raises(PolyloomError, match="a shift of i32 by 40"):
        evaluate(read(text.replace("return %r", "return %s")), [[0, 40, 3, -1]])


def test_a_mask_has_a_byte_for_each_lane() -> None:
    text = """function f(%p: ptr, %m: maskx3) -> maskx3 {
entry:
    store %m, %p align 1
    %q: ptr = offset %p, 1:i64
    store 1:i8, %q align 1
    %r: maskx3 = load %p align 1
    return %r
}
"""
    array = np.full(4, 9, np.uint8)
    assert evaluate(verify(read(text)), [array, [1, 0, 0]]) == (1, 1, 0)
    assert array.tolist() == [1, 1, 0, 9]


def test_address_spaces_have_memory_of_their_own() -> None:
    text = """function f(%p: ptr, %q: ptr.2) -> i32 {
entry:
    %x: i32 = load %p align 4
    %y: i32 = load %q align 4
    store %x, %q align 4
    %z: i32 = sub %x, %y
    return %z
}
"""
    near, far = np.array([7], np.int32), np.array([3], np.int32)
    assert interpret(verify(read(text)), [near, far]) == 4
    assert (near[0], far[0]) == (7, 7)


def test_variables_of_vectors_become_values() -> None:
    """Also where C has them as pointers, whose bytes say nothing of the vector's."""
    text = """function f(%x: i32x8, %n: i32) -> i32x8 {
entry:
    %s: ptr = alloca 8:i64 align 8
    store %x, %s align 8
    %c: i1 = sgt %n, 0:i32
    branch %c, more, end
more:
    %a: i32x8 = load %s align 8
    %b: i32x8 = add %a, %a
    store %b, %s align 8
    jump end
end:
    %r: i32x8 = load %s align 8
    return %r
}
"""
    made = verify(construct(read(text)))
    assert not any(i.access for block in made.blocks for i in block.instructions)
    assert evaluate(made, [range_(8), 1]) == tuple(2 * k for k in range(8))
    assert evaluate(verify(if_convert(made)), [range_(8), 0]) == tuple(range(8))
    assert evaluate(destruct(made), [range_(8), 1]) == tuple(2 * k for k in range(8))


def range_(count: int) -> Any:
    return np.arange(count, dtype=np.int32)


def test_several_results_are_live_where_they_are_used() -> None:
    text = """external @swap(i32x4, i32x4) -> (i32x4, i32x4) none
function f(%x: i32x4, %y: i32x4, %c: i1) -> i32x4 {
entry:
    %a: i32x4, %b: i32x4 = call @swap %x, %y
    branch %c, one, two
one:
    return %a
two:
    %r: i32x4 = add %b, %y
    return %r
}
"""
    found = liveness(verify(read(text)))
    assert found.live_out[0] == {"a", "b", "y"}
    assert found.live_in[1:] == ({"a"}, {"b", "y"})
    assert "%b" in print_ssa(dce(read(text.replace("return %a", "return %b")))), (
        "one needed result keeps the call with both"
    )


def test_equal_vectors_are_computed_once() -> None:
    text = """function f(%x: i32x4) -> i32x4 {
entry:
    %a: i32x4 = splat 3:i32
    %b: i32x4 = splat 3:i32
    %c: i32 = call reduce.add %x
    %d: i32 = call reduce.add %x
    %e: i32x4 = splat %c
    %g: i32x4 = splat %d
    %h: i32x4 = sub %e, %g
    %r: i32x4 = add %h, %b
    return %r
}
"""
    made = verify(dce(common(read(text))))
    assert len(made.blocks[0].instructions) == 5
    assert evaluate(made, [[1, 2, 3, 4]]) == (3, 3, 3, 3)
