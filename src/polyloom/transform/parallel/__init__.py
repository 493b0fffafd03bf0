# SPDX-License-Identifier: Apache-2.0
"""Parallel loops of nests, for any machine: arrangement of loops, vector loops, and work sharing among processors."""
