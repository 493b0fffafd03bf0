# SPDX-License-Identifier: Apache-2.0
"""Files of vector kernels: which are such, how kernels and constants are named, runs from a file and of a function."""

from pathlib import Path

import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.source.language.file import is_vector_file, load_kernel, parse_kernel_name, split_path

VECTOR = "import polyloom as pl\n\n\n@pl.tensix.kernel\ndef f(dst, k=2.0, n: pl.i32 = 1):\n    dst[0] = dst[0] * k\n"
LOOPS = "import polyloom as pl\n\nN = pl.size('N')\n\n\n@pl.kernel\ndef g(x: pl.f32[N]):\n    pass\n"


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, str]:
    texts = {"vector": VECTOR, "loops": LOOPS, "mixed": LOOPS + VECTOR, "broken": "def", "none": "x = 1\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    return {name: str(tmp_path / f"{name}.py") for name in texts}


def test_decorators_tell_which_kind_a_function_is(paths: dict[str, str]) -> None:
    assert is_vector_file(paths["vector"], None)
    assert is_vector_file(paths["vector"] + ":f", None)
    assert is_vector_file(paths["vector"], "f(k=1)")
    assert is_vector_file(paths["vector"], "other")
    assert is_vector_file(paths["mixed"], "f")
    for path, function in [("mixed", None), ("mixed", "g"), ("loops", None), ("broken", None), ("none", None)]:
        assert not is_vector_file(paths[path], function)
    assert not is_vector_file(paths["vector"] + "x", None)


def test_a_name_with_constants(paths: dict[str, str]) -> None:
    kernel = load_kernel(paths["vector"])
    assert split_path(paths["vector"] + ":f") == (paths["vector"], "f")
    assert parse_kernel_name("f(3, )").constants(kernel) == parse_kernel_name("f(k=3)").constants(kernel) == {"k": 3}
    assert (parse_kernel_name(None).name, kernel.constants, kernel.runtime) == (None, ("k",), ("n",))
    for text in ("f(", "f + 1", "f(k=g)", "1"):
        with pytest.raises(PolyloomError, match="PL0801"):
            parse_kernel_name(text)
    with pytest.raises(PolyloomError, match="gets 2 constants"):
        parse_kernel_name("f(1, 2)").constants(kernel)


def test_a_kernel_runs_from_a_file_and_as_a_value(paths: dict[str, str]) -> None:
    from_file = pl.compile(paths["vector"], on="tensix").run(n=3)
    as_value = pl.compile(load_kernel(paths["vector"]), on="tensix").run(n=3)
    assert from_file.verified
    assert as_value.verified
    assert from_file.cycles == as_value.cycles
