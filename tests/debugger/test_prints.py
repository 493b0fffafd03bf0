# SPDX-License-Identifier: Apache-2.0
"""Prints from kernels: no code of the program, events of the model with cycle, iteration and values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.debugger.test_debugger import MACHINES

import polyloom as pl
from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.editor.check import Request, check
from polyloom.run.instance import Instance

PRINTING = """import polyloom as pl

N = pl.size("N")


@pl.kernel
def mix(A: pl.f32[N], B: pl.f32[N, N], C: pl.f32[N]) -> None:
    for i in range(N):
        x = A[i] * pl.f32(3.0)
        C[i] = x
        print("x", x, i)
    for i in range(N):
        for j in range(N):
            C[i] = C[i] + B[i, j]
            print("100 %", C[i], i, j + 1, B[i, j] * pl.f32(2.0))
"""
SILENT = "\n".join("" if "print(" in line else line for line in PRINTING.split("\n"))
C_PRINTING = """#include <stdio.h>

void mix(int n, float A[n], float B[n][n], float C[n]) {
    for (int i = 0; i < n; i++)
        C[i] = A[i] * 3.0f;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i] = C[i] + B[i][j];
            printf("%.2f of (%d, "
                   "%ld)\\n", C[i], i, j + 1);
        }
}
"""


def compiled(folder: Path, text: str, on: str, name: str = "mix.py") -> Instance:
    # The same path for both: programs tell where they come from.
    path = folder / name
    path.write_text(text)
    made = pl.compile(str(path), on=on)
    return made.prepare_instance(dict.fromkeys(made.parameters, 3))


@pytest.mark.parametrize("on", MACHINES)
def test_prints_are_no_code_and_are_seen_in_their_cycles(tmp_path: Path, on: str) -> None:
    """The bytes are those of the program without prints; each print has its iteration, cycle and values."""
    instance = compiled(tmp_path, PRINTING, on)
    assert instance.data == compiled(tmp_path, SILENT, on).data
    result = instance.run({} if instance.parameters else {"N": 3})
    rows = [printed.as_json() for printed in result.prints.rows]
    sums = [row for row in rows if row["text"].startswith("100 %")]
    assert len(rows) == 12 and result.prints.notice == ""
    assert {(row["values"][1]["value"], row["values"][2]["value"]) for row in sums} == {
        (i, j) for i in range(3) for j in range(1, 4)
    }
    # Whatever the machine computes, a print of a sum has been seen there, or is marked; products are nowhere.
    assert all(row["cycle"] is not None for row in sums)
    assert all(row["values"][3]["computed"] for row in sums)
    assert not any(row["values"][n]["computed"] for row in sums for n in (1, 2))
    last = {row["values"][1]["value"]: row for row in sums if row["values"][2]["value"] == 3}
    assert [np.float32(last[i]["values"][0]["value"]) for i in range(3)] == result.outputs["C"].tolist()
    assert not any(row["values"][0]["computed"] for row in last.values())


def test_c_prints_by_its_formats(tmp_path: Path) -> None:
    silent = C_PRINTING.replace('printf("%.2f of (%d, "', ";").replace('"%ld)\\n", C[i], i, j + 1);', "")
    instance = compiled(tmp_path, C_PRINTING, "riscv", "mix.c")
    assert instance.data == compiled(tmp_path, silent, "riscv", "mix.c").data
    result = instance.run()
    texts = [printed.text for printed in result.prints.rows]
    assert len(texts) == 9
    assert all(f"{result.outputs['C'][i]:.2f} of ({i}, 3)" in texts for i in range(3))


def test_run_and_debug_show_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mix.py").write_text(PRINTING)
    arguments = [str(tmp_path / "mix.py"), "N=2", "--on", "riscv"]
    assert main(["run", *arguments, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["prints"]) == 6
    assert main(["debug", *arguments, "-x", "until C[1] != 0 and i == 1", "-x", "start", "-x", "continue"]) == 0
    told = capsys.readouterr().out
    # Going back and on prints again, as the program would.
    assert told.count("print: cycle") == 2 + 6


@pytest.mark.parametrize(
    ("statement", "place"),
    [("print(A)", "A"), ('print("x", y)', "y"), ("print(C[i], end='')", "''"), ("print(f'{i}')", "f'{i}'")],
)
def test_what_cannot_be_printed_is_located(tmp_path: Path, statement: str, place: str) -> None:
    text = PRINTING.replace('print("x", x, i)', statement)
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, text, "riscv")
    span = caught.value.diagnostics[0].span
    assert span is not None and span.source.text[span.start : span.end] == place


def test_integers_have_no_width(tmp_path: Path) -> None:
    """Python's integers of loops, sizes and constants are shown as they are."""
    text = PRINTING.replace('print("x", x, i)', "print(i * 10**10 - N, -2**31)")
    result = compiled(tmp_path, text, "riscv").run()
    assert [each.text for each in result.prints.rows if each.event.print.line == 11] == [
        f"{i * 10**10 - 3} {-(2**31)}" for i in range(3)
    ]


@pytest.mark.parametrize("value", ["10**40", "2**31", "-2**31 - 1", "10**40 + 1", "(10**40)**64**2", "1e300"])
def test_constants_of_no_type_are_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, PRINTING.replace('"x", x, i', value), "riscv")
    found = caught.value.diagnostics[0]
    assert found.code in ("PL0143", "PL0133") and found.span is not None and found.span.line == 11


@pytest.mark.parametrize("value", ["c", '"sum", pl.sum(c)', "1.5"])
def test_kernels_of_whole_arrays_print_nothing(tmp_path: Path, value: str) -> None:
    head = PRINTING[: PRINTING.index("@pl.kernel")]
    text = f"{head}@pl.kernel\ndef f(a: pl.f32[N]) -> pl.f32[N]:\n    c = a + a\n    print({value})\n    return c\n"
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, text.replace("pl.sum", "np.sum").replace("import", "import numpy as np\nimport", 1), "riscv")
    found = caught.value.diagnostics[0]
    assert found.code == "PL1510" and found.span is not None and found.span.line == 10
    assert found.message == "a kernel of whole arrays prints nothing"


@pytest.mark.parametrize("statement", ['printf("%s", A)', 'printf("%d")', "printf(A)"])
def test_formats_that_show_no_numbers_are_located(tmp_path: Path, statement: str) -> None:
    text = C_PRINTING.replace("C[i] = A[i] * 3.0f;", f"{{ C[i] = A[i] * 3.0f; {statement}; }}")
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, text, "riscv", "mix.c")
    span = caught.value.diagnostics[0].span
    assert caught.value.code == "PL1510" and span is not None and span.line == 5


C_FRAME = (
    "#include <stdio.h>\nstatic float g(float *c, int i) {{ c[i] = 5.0f; return 1.0f; }}\n{before}\n"
    "void mix(int n, float A[n], float C[n]) {{\n    for (int i = 0; i < n; i++) {{\n        {body}\n    }}\n}}\n"
)


def c_run(folder: Path, body: str, before: str = "") -> tuple[list[str], list[float]]:
    """Texts that are printed for A = 1.5, 2.5, -3.25, and C."""
    instance = compiled(folder, C_FRAME.format(body=body, before=before), "riscv", "mix.c")
    result = instance.run(A=np.array([1.5, 2.5, -3.25], np.float32))
    return [printed.text for printed in result.prints.rows], result.outputs["C"].tolist()


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ('C[i] = A[i]; (void)printf("%.1f", C[i]);', ["1.5", "2.5", "-3.2"]),
        ('C[i] = A[i]; do printf("a"); while (0);', ["a"] * 3),
        ('C[i] = A[i]; switch (i) { case 1: printf("one"); break; default: printf("none"); }', ["none", "one", "none"]),
        # Two's complement, and numbers where C leaves undefined what is shown.
        ('C[i] = A[i]; printf("%x %u", -2, -1);', ["fffffffe 4294967295"] * 3),
        ('C[i] = A[i]; printf("%c%d", -191, A[i]);', ["A1.5", "A2.5", "A-3.25"]),
        ('C[i] = A[i]; printf("\\x41\\101 100%%");', ["AA 100%"] * 3),
        ('C[i] = A[i];\n#if 0\n printf("%s", A);\n#endif\n', []),
    ],
)  # fmt: skip
def test_printf_stands_in_any_statement(tmp_path: Path, body: str, texts: list[str]) -> None:
    assert c_run(tmp_path, body) == (texts, [1.5, 2.5, -3.25])


@pytest.mark.parametrize(
    "before",
    [
        "static void printf(const char *text, float *c, int i) { c[i] = 7.0f; }",
        "#define printf(text, c, i) (c[i] = 7.0f)",
    ],
)
def test_a_printf_of_the_file_itself_is_code(tmp_path: Path, before: str) -> None:
    frame = C_FRAME.replace("#include <stdio.h>\n", "")
    text = frame.format(body='C[i] = A[i]; printf("", C, i);', before=before)
    result = compiled(tmp_path, text, "riscv", "mix.c").run(A=np.ones(3, np.float32))
    assert result.outputs["C"].tolist() == [7.0] * 3 and not result.prints.rows


def test_what_other_functions_print_is_not_read(tmp_path: Path) -> None:
    main = 'int main(int count, char **words) { printf("%s", words[0]); return 0; }'
    assert c_run(tmp_path, 'C[i] = A[i]; printf("%d", i);', main)[0] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        # What a print stores would be lost with it.
        ('printf("%d", k++)', "a value that is printed stores"),
        ('printf("%d", k = 2)', "a value that is printed stores"),
        ('printf("%f", g(C, i))', "a value that is printed calls `g`"),
        ('printf("100%\\n")', "`%` shows no number"),
        ('printf("%999999999d", k)', "`%999999999d` shows more than 1000 characters"),
        ('printf("%f", A[i - 1])', "a value cannot be printed: A[-1] is outside"),
    ],
)
def test_what_printf_cannot_show_is_located(tmp_path: Path, statement: str, message: str) -> None:
    body = f"int k = 1; {statement}; C[i] = A[i] + k;"
    with pytest.raises(PolyloomError) as caught:
        c_run(tmp_path, body)
    found = caught.value.diagnostics[0]
    assert found.code == "PL1510" and found.message.startswith(message)
    assert found.span is not None and found.span.line == 6


@pytest.mark.parametrize("value", ['int k = (int)printf("a");', 'A[i] > 0 ? (void)0 : printf("a");'])
def test_a_printf_whose_value_is_used_is_refused_as_a_call(tmp_path: Path, value: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        c_run(tmp_path, f"C[i] = A[i]; {value}")
    assert caught.value.code == "PL0975"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mix.c", C_PRINTING.replace("j + 1)", "A)").replace("%ld", "%s")),
        ("mix.c", C_PRINTING.replace("C[i], i, j + 1", "A[i - 1], i, j")),
        ("mix.py", PRINTING.replace('"x", x, i', "A")),
        ("mix.py", PRINTING.replace('"x", x, i', "10**40")),
        ("mix.py", PRINTING.replace('"x", x, i', "A[i + 1]")),
    ],
)
def test_a_check_tells_what_a_run_tells(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, text, "riscv", name)
    (stage,) = check(Request(str(tmp_path / name)))
    assert stage.diagnostics == caught.value.diagnostics


def test_another_print_than_pythons_own_is_code(tmp_path: Path) -> None:
    """The call stores: without it the kernel would compute something else."""
    text = PRINTING.replace("@pl.kernel", "def print(y, a, k):\n    a[k] = y\n\n\n@pl.kernel")
    text = text[: text.index("    for i in range(N):\n        for j")].replace('"x", x, i', "7.0, C, i")
    result = compiled(tmp_path, text, "riscv").run()
    assert result.outputs["C"].tolist() == [7.0] * 3 and not result.prints.rows


@pytest.mark.parametrize(("value", "code"), [("A[i + 1]", "PL0240"), ("(i, i)", "PL0133")])
def test_a_wrong_value_is_told_once(tmp_path: Path, value: str, code: str) -> None:
    with pytest.raises(PolyloomError) as caught:
        compiled(tmp_path, PRINTING.replace('"x", x, i', value), "riscv")
    (found,) = caught.value.diagnostics
    assert found.code == code and found.span is not None and found.span.line == 11
