# SPDX-License-Identifier: Apache-2.0
"""Functions of Python and C files on the command line: values by their own names, what is compared, what is said to bad
input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Call
from tests.conftest import Golden

import polyloom as pl
from polyloom import api, frontend
from polyloom.frontend.pla import parse
from polyloom.frontend.source import Options

FUNCTIONS = """import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def scale(x: pl.i32[N, M], y: pl.i32[N, M], alpha: pl.i32) -> None:
    for i in range(N):
        for j in range(M):
            y[i, j] = alpha * x[i, j]


@pl.kernel
def twice(x: pl.f32[N], y: pl.f32[N], beta: pl.f32) -> None:
    for i in range(N):
        x[i] = beta * x[i]
    for i in range(N):
        y[i] = x[N - 1 - i] + x[i]


@pl.kernel
def shares(x: pl.i32[N], y: pl.i32[N]) -> None:
    for i in range(N):
        y[i] = 100 // x[i]


@pl.kernel
def sums(x: pl.i32[N], y: pl.i32[N], s: pl.i32[N], t: pl.i32[N]) -> None:
    for i in range(N):
        s[i] = x[i] + y[i]
        t[i] = t[i] + s[i]
"""
C_FILE = """#ifdef HALF
void half(int n, signed char x[n]) {
  for (int i = 0; i < n; i++)
    x[i] = x[i] >> SHIFT;
}
#endif
"""
ON = ("--on", "tcpa:1x2")


@pytest.fixture(autouse=True)
def functions(scratch: Path) -> None:
    (scratch / "functions.py").write_text(FUNCTIONS)
    (scratch / "half.c").write_text(C_FILE)
    np.save(scratch / "zero.npy", np.array([4, 0, 2], np.int32))
    np.save(scratch / "x.npy", np.arange(6, dtype=np.int32).reshape(2, 3))


def test_scalars_by_name(call: Call, scratch: Path) -> None:
    words = (
        "run",
        "functions.py:scale",
        "N=2",
        "M=3",
        "alpha=-7",
        "--in",
        "x=x.npy",
        "--out",
        "y=y.npy",
        *ON,
        "--json",
    )
    status, out, err = call(*words)
    data = json.loads(out)
    assert (status, err, data["verified"], data["kernel"], data["parameters"]) == (
        0,
        "",
        True,
        "scale",
        {"N": 2, "M": 3},
    )
    assert np.array_equal(np.load(scratch / "y.npy"), -7 * np.load(scratch / "x.npy"))


def test_scalars_that_are_not_given_are_seeded(call: Call) -> None:
    sums = [
        json.loads(call("run", "functions.py:scale", "N=2", "M=3", *ON, "--seed", s, "--json")[1])["outputs"]["y"][
            "sha256"
        ]
        for s in "001"
    ]
    assert sums[0] == sums[1] != sums[2]


def test_an_array_that_is_read_and_written_is_one_array(call: Call) -> None:
    data = json.loads(call("run", "functions.py", "--function", "twice", "N=5", "beta=0.5", *ON, "--json")[1])
    assert data["verified"] is True
    assert sorted(data["outputs"]) == ["x", "y"]
    assert data["cycles"] == sum(p["cycles"] + p["transfer_cycles"] for p in data["phases"])


def test_the_function_itself_is_asked(call: Call, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The equations agree with the words, but not with a function that does something else."""
    load = frontend.nest_source

    def other(nest: object, reference: object, path: str, *, reassociate: bool, **others: object) -> api.Source:
        del reference, others
        return load(nest, lambda _, arrays: {"y": arrays["x"]}, path, reassociate=reassociate)  # type: ignore[arg-type]

    monkeypatch.setattr(frontend, "nest_source", other)
    status, out, err = call("run", "functions.py:scale", "N=2", "M=3", "alpha=2", "--in", "x=x.npy", *ON, "--json")
    assert (status, json.loads(out)["verified"]) == (4, False)
    assert err.startswith("error[PL0812]: y[0, 1] differs from the source: expected 1, got 2")


def test_kernels_in_python(scratch: Path) -> None:
    source = frontend.load("functions.py:twice")
    kernel = pl.compile("functions.py:twice", on="tcpa:1x2")
    assert source.nest is not None and source.system is not None and source.exact
    result = kernel.instantiate(N=3).run(beta=2, x=np.array([1, 2, 3], np.float32))
    assert result.outputs["y"].tolist() == [8, 8, 8]
    with pytest.raises(pl.PolyloomError, match="PL0232"):
        pl.compile("functions.py:scale", on="tcpa:1x2").instantiate(N=1, M=1).run(alpha=1.5)


def test_a_kernel_object_is_a_source() -> None:
    N = pl.size("N")

    @pl.kernel
    def double(x: pl.i32[N], y: pl.i32[N]) -> None:
        for i in range(N):
            y[i] = x[i] + x[i]

    compiled = pl.compile(double, on="tcpa:1x2")
    assert compiled.kernel == "double"
    assert compiled.instantiate(N=4).run(x=np.arange(4, dtype=np.int32)).outputs["y"].tolist() == [0, 2, 4, 6]


def test_steps_and_show(call: Call) -> None:
    assert call("verify", "functions.py:twice") == (0, "functions.py:twice: valid\n", "")
    assert call("compile", "functions.py:twice", "-o", "twice.plsc")[0] == 0
    assert call("instantiate", "twice.plsc", "N=4", "--pes", "1x2", "-o", "twice.plcc")[0] == 0
    assert call("verify", "twice.plcc")[0] == 0
    assert "twice" in call("show", "twice.plcc")[1]
    data = json.loads(call("show", "functions.py:twice", "--json")[1])
    assert {"kernel", "parameters", "inputs", "outputs", "intermediates", "nest", "dataflow", "phases"} <= set(data)
    assert data["inputs"]["beta"] == {"dtype": "f32", "shape": []}


def test_a_loaded_configuration_takes_scalars_by_name(call: Call, scratch: Path) -> None:
    np.save("integers.npy", np.array([[1, 2, 3]], np.int32))
    np.save("floats.npy", np.array([1, 2, 3], np.float32))
    for name, parameters, scalar, values, want in (
        ("twice", {"N": 3}, "beta=2", "floats", [8, 8, 8]),
        ("scale", {"N": 1, "M": 3}, "alpha=-3", "integers", [[-3, -6, -9]]),
    ):
        made = pl.compile(f"functions.py:{name}", on="tcpa:1x2").instantiate(parameters)
        made.save(f"{name}.plcc")
        given = [word for a in made.signature.inputs if a.shape for word in ("--in", f"{a.name}={values}.npy")]
        assert call("simulate", f"{name}.plcc", scalar, *given, "--out", "y=y.npy")[0] == 0
        assert np.load(scratch / "y.npy").tolist() == want
    instance = pl.load("scale.plcc")
    assert isinstance(instance, pl.Instance)
    arrays = {a.name: np.array([[1, 0, 2]], np.int32) for a in instance.signature.inputs if a.shape}
    assert instance.run(arrays, alpha=5).outputs["y"].tolist() == [[5, 0, 10]]
    assert call("simulate", "scale.plcc", "alpha=1.5", "--in", "x=integers.npy")[2].startswith("error[PL0819]")


def test_a_trace_has_the_operations_of_all_phases(call: Call, scratch: Path) -> None:
    data = json.loads(
        call("run", "functions.py:twice", "N=4", *ON, "--trace", "run.json", "--report", "run.html", "--json")[1]
    )
    events = [e for e in json.loads((scratch / "run.json").read_text())["traceEvents"] if e["ph"] == "X"]
    assert len(events) == data["operations"]
    assert max(e["ts"] + e["dur"] for e in events) <= data["cycles"]
    page = (scratch / "run.html").read_text()
    assert page.count("<h2>Source and schedule</h2>") == len(data["phases"])


def test_show_prints_what_a_function_became(call: Call) -> None:
    lines = call("show", "functions.py:scale")[1].splitlines()
    headings = [lines.index(heading) for heading in ("Nest", "Dataflow", "Equations", "Added variables")]
    assert headings == sorted(headings)
    assert "void scale(int N, int M, int x[N][M], int y[N][M], int alpha) {" in lines
    assert "  reads x[i, j] as given" in lines
    parse("\n".join(lines[headings[2] + 1 : headings[3]]))


def test_c(call: Call) -> None:
    pytest.importorskip("ziglang", reason="the extra [c] is not installed")
    status, out, err = call("run", "half.c", "-D", "HALF", "-DSHIFT=1", "n=5", *ON, "--json")
    assert (status, err) == (0, "")
    data = json.loads(out)
    assert (data["verified"], data["kernel"], data["outputs"]["x"]["dtype"]) == (True, "half", "int8")


def test_some_arrays_mean_all(call: Call, scratch: Path) -> None:
    """What is only written may be given or not; scalars are made up; `--fill random` makes up the rest."""
    for name in "xyst":
        np.save(f"{name}.npy", np.arange(4, dtype=np.int32))
    for on in ("tcpa:1x2", "riscv:rv64gc"):
        if on.startswith("riscv"):
            pytest.importorskip("ziglang", reason="the extra [c] is not installed")
        words = ("run", "functions.py:sums", "N=4", "--in", "x=x.npy", "--on", on, "--out", "s=new.npy")
        assert call(*words)[0] == 1
        rest = ("--in", "y=y.npy", "--in", "t=t.npy")
        assert call(*words, *rest)[0] == call(*words, *rest, "--in", "s=s.npy")[0] == 0
        assert np.load("new.npy").tolist() == [0, 2, 4, 6] and np.load("s.npy").tolist() == [0, 1, 2, 3]
        assert call(*words, "--fill", "random")[0] == 0
        assert call(*words, *rest, "--in", "s=zero.npy")[2].startswith("error[PL0232]")
        (scratch / "new.npy").unlink()


CASES = {
    "several": "run functions.py N=2",
    "some-arrays": "run functions.py:sums N=3 --in x=zero.npy",
    "some-arrays-phases": "run functions.py:twice N=3 --in y=zero.npy",
    "unknown-fill": "run functions.py:sums N=3 --in x=zero.npy --fill zeros",
    "output-shape": "run functions.py:sums N=4 --in x=x.npy --in y=x.npy --in t=x.npy --in s=zero.npy",
    "unknown-function": "run functions.py:scal N=2",
    "two-names": "run functions.py:scale --function twice N=2",
    "no-file": "run nowhere.py N=2",
    "missing-all": "run functions.py:scale alpha=2",
    "missing-some": "run functions.py:scale N=2 alpha=2",
    "unknown-parameter": "run functions.py:scale N=2 M=3 gamma=2",
    "scalar-type": "run functions.py:scale N=2 M=3 alpha=1.5",
    "scalar-text": "run functions.py:twice N=2 beta=fast",
    "scalar-range": "run functions.py:scale N=2 M=3 alpha=2147483648",
    "scalar-huge": "run functions.py:twice N=2 beta=1e60",
    "array-value": "run functions.py:scale N=2 M=3 x=1",
    "parameter-not-integer": "run functions.py:scale N=2.5 M=3",
    "option-of-c": "compile functions.py:scale -I include -o new.plsc",
    "option-of-functions": "show bits.pla --reassociate",
    "ending": "run functions.txt N=2",
    "division-by-zero": "run functions.py:shares N=3 --in x=zero.npy",
    "phased-input": "run functions.py:twice N=2 --in beta=in.npy",
}


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, call: Call, golden: Golden) -> None:
    status, out, err = call(*CASES[name].split())
    assert status in (1, 2)
    assert "Traceback" not in out + err
    golden(f"source-{name}", f"$ polyloom {CASES[name]}\nexit {status}\n--- stdout\n{out}--- stderr\n{err}")


def test_options_say_what_they_are_for() -> None:
    for options in (
        Options(includes=("x",)),
        Options(defines=("X",)),
        Options(shapes=("A=n",)),
        Options(single_constants=True),
    ):
        with pytest.raises(pl.PolyloomError, match="PL0801"):
            frontend.load("functions.py", options)
