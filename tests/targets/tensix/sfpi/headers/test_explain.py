# SPDX-License-Identifier: Apache-2.0
"""What a kernel is told that does not compile: at the user's line, in the words of the vector language."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.cpp.source import load_kernel

pytest.importorskip("ziglang", reason="C needs the extra `c`")

KERNELS = {
    "open_region": """\
void f() {
    vFloat a = dst_reg[0];
    v_if (a < 0.0f) {
        a = 1.0f;
    }
    dst_reg[0] = a;
}
void g() {}
""",
    "open_block": "void f() {\n    v_block {\n        dst_reg[0] = 1.0f;\n    }\n}\n",
    "else_without_if": "void f() {\n    dst_reg[0] = 1.0f;\n    v_else { dst_reg[0] = 2.0f; }\n    v_endif;\n}\n",
    "and_outside": "void f() {\n    vFloat a = dst_reg[0];\n    v_and (a < 0.0f);\n}\n",
    "scalar_if": "void f() {\n    vFloat a = dst_reg[0];\n    if (a < 0.0f) dst_reg[0] = 1.0f;\n}\n",
    "choice": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = a < 0.0f ? 1.0f : 2.0f;\n}\n",
    "condition": "void f() {\n    vFloat a = dst_reg[0];\n    v_if (a) { dst_reg[0] = 1.0f; }\n    v_endif;\n}\n",
    "mixed_sum": "void f() {\n    vFloat a = dst_reg[0];\n    vInt b = 3;\n    dst_reg[0] = a + b;\n}\n",
    "mixed_assignment": "void f() {\n    vFloat a = dst_reg[0];\n    vInt b = 3;\n    a = b;\n    dst_reg[0] = a;\n}\n",
    "into_scalar": "void f() {\n    vFloat a = dst_reg[0];\n    float x = a;\n}\n",
    "returned_scalar": "int g() {\n    vInt a = dst_reg[0];\n    return a;\n}\nvoid f() { g(); }\n",
    "layout": "void f() {\n    dst_reg[0].mode<DataLayout::I32>() = vFloat(1.0f);\n}\n",
    "arguments": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = setexp(a);\n}\n",
    "unknown": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = abss(a);\n}\n",
    "missing": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = sine(a);\n}\n",
    "signed_shift": "void f() {\n    vInt a = dst_reg[0];\n    dst_reg[0] = a >> 3;\n}\n",
    "thirds": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = a / 3.0f;\n}\n",
    "quotient": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = 1.0f / a;\n}\n",
    "product_of_integers": "void f() {\n    vUInt h = dst_reg[0];\n    dst_reg[0] = h * 5;\n}\n",
    "random": "void f() {\n    dst_reg[0] = rand();\n}\n",
    "reciprocal": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = approx_recip(a);\n}\n",
    "exponential": "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = approx_exp(a);\n}\n",
    "memory": """\
void f(int k) {
    vFloat a[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    dst_reg[0] = a[k];
}
""",
    "global": "vFloat a;\nvoid f() {\n    dst_reg[0] = a;\n}\n",
    "recursion": """\
void g(int k) {
    dst_reg[k] = 1.0f;
    if (k) g(k - 1);
    dst_reg[k] = 2.0f;
}
void f(int k) {
    g(k);
}
""",
    "noinline": """\
__attribute__((noinline)) void g(int k) {
    dst_reg[k] = 1.0f;
}
void f(int k) {
    g(k);
}
""",
    "scalar_float": "void f(float x) {\n    dst_reg[0] = x * 2.0f;\n}\n",
    "compared_float": "void f(float x) {\n    if (x < 2.0f) dst_reg[0] = 1.0f;\n}\n",
    "declared": "void g(int);\nvoid f(int k) {\n    g(k);\n}\n",
    "overloaded": "void f(int k) { dst_reg[k] = 1.0f; }\nvoid f() { dst_reg[0] = 1.0f; }\n",
    "template": "template <int N>\nvoid f() { dst_reg[N] = 1.0f; }\n",
    "default_and_overload": """\
template <int N = 8>
void f() { dst_reg[N] = 1.0f; }
void f(int k) { dst_reg[k] = 1.0f; }
""",
    "default": "template <typename T = vInt>\nvoid f() {\n    T a = dst_reg[0];\n    vFloat b = a;\n}\n",
    "union": """\
union Both {
    int bits;
    vFloat x;
    Both() {}
};
void f(int k) {
    Both both;
    both.bits = k;
    dst_reg[0] = both.x;
}
""",
    "companion": '#include "ckernel_sfpu_recip.h"\nvoid f() {}\n',
}


DEFINES = {
    "vFloat": ("vFloat=int",),
    "dst_reg": ("dst_reg=3",),
    "int": ("HERE=1", "int=long"),
    "two": ("N=5", "sfpi_inline=static", "a=1"),
}


def said(text: str, function: str, folder: Path, monkeypatch: pytest.MonkeyPatch, defines: tuple[str, ...] = ()) -> str:
    monkeypatch.chdir(folder)
    Path("kernel.h").write_text(f'#include "sfpi.h"\nusing namespace sfpi;\n{text}')
    with pytest.raises(PolyloomError) as raised:
        load_kernel("kernel.h", function, defines=defines)
    return str(raised.value) + "\n"


@pytest.mark.parametrize("name", KERNELS)
def test_errors_stand_at_the_user_s_line(
    name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = said(KERNELS[name], "f", tmp_path, monkeypatch)
    assert "sfpi_" not in text and "__sfpi" not in text
    golden(name, text)


@pytest.mark.parametrize("function", ["sily", "ns::silly", "silly<3>", "silly(1, 2)", "silly"])
def test_a_function_that_is_not_there_has_candidates(
    function: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "template <bool B>\nvoid silly() { dst_reg[B] = 1.0f; }\nvoid other() {}\n"
    name = "".join(c if c.isalnum() else "_" for c in function)
    golden(f"named_{name}", said(text, function, tmp_path, monkeypatch))


@pytest.mark.parametrize("name", DEFINES)
def test_definitions_that_change_our_headers_are_named(
    name: str, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "void f() {\n    vFloat a = dst_reg[0];\n    dst_reg[0] = a;\n}\n"
    golden(f"define_{name}", said(text, "f", tmp_path, monkeypatch, DEFINES[name]))


def test_a_definition_that_the_kernel_alone_uses_is_told_of_at_its_line(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "template <int N>\nvoid f() {\n    dst_reg[0].mode<LAYOUT>() = vFloat(1.0f);\n}\n"
    golden("define_used", said(text, "f<1>", tmp_path, monkeypatch, ("LAYOUT=DataLayout::I32",)))
