# SPDX-License-Identifier: Apache-2.0
"""Lowering of statement trees to nodes of nests: assignments, branches, loops, sequences, preconditions of sizes."""
