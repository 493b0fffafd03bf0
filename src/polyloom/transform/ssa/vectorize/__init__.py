# SPDX-License-Identifier: Apache-2.0
"""Vectorization: an innermost loop becomes a loop whose scalars are vectors, where its recurrences allow it.

analyse: which values are counters, reductions, vectors, and what stands against it -> lanes: the loop over vectors,
masked -> exits: reductions of lanes, and which exit was taken, behind the loop -> whole: counted loops without masks
"""
