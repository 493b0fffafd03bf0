# SPDX-License-Identifier: Apache-2.0
"""Kernels in C++ as functions of the form."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from polyloom.ir.ssa import Constant, Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.tensix.sfpi.header import operations_header
from polyloom.targets.tensix.source.cpp.source import HERE, load_kernel
from polyloom.targets.tensix.source.operations import called_operation, operations

pytest.importorskip("ziglang", reason="C needs the extra `c`")

EXAMPLES = Path(__file__).parents[5] / "examples" / "sfpi"
KERNELS = (
    ("silly.h", "silly(true)", None),
    ("abs.h", "absolute<8>", None),
    ("leaky_relu.h", "leaky_relu<8>", None),
    ("tanh.h", "tanh_table<8>", "tanh_init"),
    ("sigmoid.h", "sigmoid_table<8>", "sigmoid_init"),
    ("compare_zero.h", "is_zero<8>", None),
    ("compare_zero.h", "at_most_zero<8>", None),
    ("sign.h", "sign<8>", None),
    ("clamp.h", "limited<8>", None),
    ("clamp.h", "limited_by_order<8>", None),
    ("exp.h", "exponential<8>", None),
    ("recip.h", "reciprocal<8>", "reciprocal_init"),
    ("replay.h", "repeated<8>", None),
)


def names(function: Function) -> list[str]:
    """The operations in the order of the text."""
    found = (called_operation(i) for block in function.blocks for i in block.instructions)
    return [row.name for row in found if row is not None]


def kernel(folder: Path, text: str) -> str:
    path = folder / "kernel.h"
    path.write_text(f'#include "ckernel.h"\nusing namespace sfpi;\n{text}')
    return str(path)


def test_the_header_of_the_operations_is_made_of_the_table() -> None:
    assert (HERE / "include" / "sfpi_operations.h").read_text(encoding="utf-8") == operations_header()


@pytest.mark.parametrize(("file", "function", "init"), KERNELS)
def test_examples_become_functions_of_the_table_s_operations(file: str, function: str, init: str | None) -> None:
    forms = load_kernel(str(EXAMPLES / file), function, init)
    for form in filter(None, (forms.function, forms.init)):
        assert form.pointers == 32
        assert {external.name for external in form.externals} <= {row.external.name for row in operations().values()}
        assert all(i.operation == "call" or i.results for block in form.blocks for i in block.instructions)
    counts = Counter(names(forms.function))
    assert counts["push"] == counts["pop"]
    assert counts["store"] >= 1 or counts["lreg_write"] >= 1


def test_leaky_relu_is_what_its_source_says() -> None:
    form = load_kernel(str(EXAMPLES / "leaky_relu.h"), "leaky_relu<1>").function
    assert [str(p.type) for p in form.parameters] == ["i32"]
    assert names(form) == [
        "splat", "load", "push", "splat", "cmp_f", "cond", "sfpmul", "assign", "pop", "store", "word",
    ]  # fmt: skip


def test_a_call_binds_what_the_name_leaves_open() -> None:
    path = str(EXAMPLES / "silly.h")
    opened, bound = load_kernel(path, "silly").function, load_kernel(path, "silly(true)").function
    assert [p.name for p in opened.parameters] == ["take_abs"]
    assert bound.parameters == ()
    assert len(bound.blocks) == 1
    assert len(opened.blocks) == 4


def test_places_and_variables_are_the_user_s() -> None:
    forms = load_kernel(str(EXAMPLES / "silly.h"), "silly(true)")
    lines = forms.source.text.split("\n")
    stores = [i for b in forms.function.blocks for i in b.instructions if i.called == "__sfpi_store"]
    assert len(stores) == 7
    assert all(i.place.file == forms.source.name and "dst_reg" in lines[i.place.line - 1] for i in stores)
    assert {"a", "b", "tmp", "exp"} <= set(forms.variables.values())


def test_floats_are_given_as_bits(tmp_path: Path) -> None:
    form = load_kernel(kernel(tmp_path, "void f(float x, bool b, int k) { if (b) dst_reg[k] = x; }"), "f").function
    assert [(p.name, str(p.type)) for p in form.parameters] == [("x", "i32"), ("b", "i1"), ("k", "i32")]


def test_arrays_of_vectors_are_taken_apart_by_unrolling(tmp_path: Path) -> None:
    text = """
    void f() {
        vFloat x[4];
        for (int k = 0; k < 4; k++) x[k] = dst_reg[k];
        subvec_transp(x[0], x[1], x[2], x[3]);
        for (int k = 0; k < 4; k++) dst_reg[k] = x[k];
    }
    """
    form = load_kernel(kernel(tmp_path, text), "f").function
    counts = Counter(names(form))
    assert (counts["load"], counts["sfptransp"], counts["store"]) == (4, 1, 4)


def test_arrays_that_clang_copies_as_integers_are_taken_apart_by_unrolling(tmp_path: Path) -> None:
    text = """
    void f() {
        vFloat x[3];
        for (int k = 0; k < 3; k++) x[k] = dst_reg[k];
        for (int k = 0; k < 2; k++) { vFloat first = x[0]; x[0] = x[1]; x[1] = x[2]; x[2] = first; }
        dst_reg[0] = x[0];
    }
    """
    form = load_kernel(kernel(tmp_path, text), "f").function
    calls = [i for b in form.blocks for i in b.instructions]
    loads = [i for i in calls if i.called == "__sfpi_load"]
    stores = [i for i in calls if i.called == "__sfpi_store"]
    assert (len(loads), len(stores)) == (3, 1)
    assert stores[0].operands[0] == loads[2].results[0]


def test_a_template_whose_arguments_have_defaults_is_named_without_them(tmp_path: Path) -> None:
    text = """
    template <bool B = false, int N = 8> void exponential(int k) { dst_reg[k + N] = B ? 1.0f : 2.0f; }
    namespace ns { template <typename... T> void init() { dst_reg[sizeof...(T)] = 3.0f; } }
    """
    path = kernel(tmp_path, text)
    bare, written = load_kernel(path, "exponential", "ns::init"), load_kernel(path, "exponential<>", "ns::init<>")
    full = load_kernel(path, "exponential<false, 8>", "ns::init<>")
    assert bare.init is not None and written.init is not None
    assert print_ssa(bare.function) == print_ssa(written.function) == print_ssa(full.function)
    assert print_ssa(bare.init) == print_ssa(written.init)
    assert print_ssa(bare.function) != print_ssa(load_kernel(path, "exponential<true>").function)


def test_regions_are_left_by_break_and_return(tmp_path: Path) -> None:
    text = """
    void f(int n) {
        for (int k = 0; k < n; k++) {
            vFloat x = dst_reg[k];
            v_if (x < 0.0f) {
                if (k == 3) return;
                if (k == 2) break;
                dst_reg[k] = 0.0f;
            }
            v_endif;
        }
        dst_reg[9] = 1.0f;
    }
    """
    form = load_kernel(kernel(tmp_path, text), "f").function
    assert Counter(names(form))["push"] == 1
    assert Counter(names(form))["pop"] >= 1


def test_raw_words_are_those_of_the_instruction_table(tmp_path: Path) -> None:
    text = "void f() { TTI_SFPLOAD(1, 4, 3, 0); TTI_SFPNOP; TTI_SFPABS(0, 1, 0, 0); lltt::replay(0, 3); }"
    form = load_kernel(kernel(tmp_path, text), "f").function
    words = [i.operands[0] for i in form.blocks[0].instructions]
    assert [w.value & 0xFFFFFFFF for w in words if isinstance(w, Constant)] == [
        0x7014C000,
        0x8F000000,
        0x7D000100,
        0x04000030,
    ]


def test_defines_and_blackhole_reach_the_kernel(tmp_path: Path) -> None:
    path = kernel(tmp_path, "void f() { vFloat x = dst_reg[WHERE]; dst_reg[0] = approx_recip(x); }")
    form = load_kernel(path, "f", defines=("WHERE=3",), member="blackhole").function
    loads = [i for i in form.blocks[0].instructions if i.called == "__sfpi_load"]
    assert [o.value for o in loads[0].operands if isinstance(o, Constant)] == [0, 7, 6]
    assert "sfparecip" in names(form)


def test_the_same_source_gives_the_same_text() -> None:
    texts = {print_ssa(load_kernel(str(EXAMPLES / "exp.h"), "exponential<8>").function) for _ in range(2)}
    assert len(texts) == 1


def test_printing_keeps_text_and_numbers(tmp_path: Path) -> None:
    form = load_kernel(
        kernel(tmp_path, 'void f(int k, unsigned u) { DPRINT << "row " << k << u << ENDL(); }'), "f"
    ).function
    assert names(form) == ["print_text", "print_int", "print_unsigned", "print_text"]
    assert {datum.initial for datum in form.data} == {b"row \0", b"\n\0"}


def test_a_scalar_float_may_be_moved_and_change_its_sign(tmp_path: Path) -> None:
    text = "void f(float x, bool b) { vFloat v = dst_reg[0]; dst_reg[0] = v - (b ? x : 2.0f); }"
    form = load_kernel(kernel(tmp_path, text), "f").function
    assert not any(
        str(i.result.type) == "f32" for b in form.blocks for i in b.instructions if len(i.results) == 1 and i.result
    )
    assert "sfpadd" in names(form)


def test_a_choice_between_vectors_is_a_branch(tmp_path: Path) -> None:
    text = "void f(bool b) { vFloat x = dst_reg[0]; vFloat y = dst_reg[1]; vFloat z = b ? x : y; dst_reg[0] = z; }"
    form = load_kernel(kernel(tmp_path, text), "f").function
    assert not any(i.operation in ("select", "copy") for b in form.blocks for i in b.instructions)
    assert [len(b.parameters) for b in form.blocks] == [1, 0, 0, 1]


def test_results_of_an_exchange_are_the_call_s_own(tmp_path: Path) -> None:
    text = "void f() { vFloat x = dst_reg[0]; vFloat y = dst_reg[1]; dst_reg[0] = min(x, y); }"
    form = load_kernel(kernel(tmp_path, text), "f").function
    swap = next(i for b in form.blocks for i in b.instructions if i.called == "__sfpi_sfpswap")
    store = next(i for b in form.blocks for i in b.instructions if i.called == "__sfpi_store")
    assert store.operands[0] == swap.results[0]
