# SPDX-License-Identifier: Apache-2.0
"""Generates text by a model of train.py on a machine: `python generate.py MODEL.npz PLACE PROMPT [COUNT]`.

The layer runs on the machine, the prompt at once and then one character at a time behind the cache of keys and values.
Embeddings and scores are read here; the next character is the one of the highest score. `gaps` are the differences
between the two highest scores: where one is below the error of a machine's arithmetic, that machine may differ.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import polyloom as pl

sys.path.insert(0, str(Path(__file__).parent))
from layer import layer16
from train import CHANNELS, HEADS, norm
from weights import WEIGHTS, Arrays, rotary_tables


def generate(model: Arrays, compiled: Any, known: str, prompt: str, count: int) -> tuple[str, list[float]]:
    """`count` characters behind a prompt, and the gap of scores at each. Every run of the layer is verified."""
    weights = {name: model[name] for name in WEIGHTS}
    cache = np.zeros((2, 0, CHANNELS), np.float32)
    tokens, text, gaps = [known.index(c) for c in prompt], "", list[float]()
    for _ in range(count):
        past = cache.shape[1]
        cos, sin = rotary_tables(past, len(tokens), CHANNELS // HEADS)
        keys, values = np.pad(cache, ((0, 0), (0, len(tokens)), (0, 0)))
        given = {"x": model["embedding"][tokens], "cos": cos, "sin": sin, "keys": keys, "values": values}
        run = compiled.run(S=past, T=len(tokens), **weights, **given)
        if not run.verified:
            raise SystemExit(f"the run behind {past} tokens is not verified")
        cache = np.stack([run.outputs["keys"], run.outputs["values"]])
        scores = norm(run.outputs["result"][-1:], model["norm3"])[0][0] @ model["scores"]
        best = np.argsort(scores)[::-1]
        tokens = [int(best[0])]
        text += known[tokens[0]]
        gaps.append(float(scores[best[0]] - scores[best[1]]))
    return text, gaps


if __name__ == "__main__":
    with np.load(sys.argv[1]) as file:
        model = {name: file[name] for name in file.files}
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 32
    compiled = pl.compile(layer16, on=sys.argv[2])
    text, gaps = generate(model, compiled, str(model["characters"]), sys.argv[3], count)
    print(f"{sys.argv[3]}{text}")
    print(f"smallest gap of scores {min(gaps):.3g}")
