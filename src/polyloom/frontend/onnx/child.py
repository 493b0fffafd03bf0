# SPDX-License-Identifier: Apache-2.0
"""Check, inlining and shape inference of a model by the package's native code, which runs in a process of its own: a
model from a stranger that makes it fail ends that process alone.

    python -P child.py BYTES_OF_MEMORY SECONDS OPERATOR,... < model > model

The exit code 3 means that the package refuses the model; standard error then has its message. Nothing is imported but
the package, and no file is opened: the model has no external data by then.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

import onnx
import onnx.checker
import onnx.inliner
import onnx.shape_inference

REFUSED = 3


def prepare(model: bytes, operators: Sequence[str]) -> bytes:
    """The model with functions inlined, but for operators that are lowered themselves, and shapes inferred. Errors:
    those of the package."""
    read = onnx.load_model_from_string(model)
    onnx.checker.check_model(read)  # pyright: ignore[reportUnknownMemberType] -- the package does not say all types
    kept = [("", name) for name in operators]
    inferred = onnx.shape_inference.infer_shapes(read, check_type=True, strict_mode=True, data_prop=True)
    inlined = onnx.inliner.inline_selected_functions(inferred, kept, exclude=True, inline_schema_functions=True)
    # Once more for what the bodies of functions bring.
    if len(inlined.graph.node) != len(inferred.graph.node):
        inlined = onnx.shape_inference.infer_shapes(inlined, strict_mode=True, data_prop=True)
    return inlined.SerializeToString()


def main() -> int:
    memory, seconds, operators = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(",")
    # Not on every system; the parent also has a limit of time.
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        found = prepare(sys.stdin.buffer.read(), operators)
    except Exception as error:  # whatever the package raises is about the model
        sys.stderr.write(str(error))
        return REFUSED
    sys.stdout.buffer.write(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
