# SPDX-License-Identifier: Apache-2.0
"""Loops pipelined, blocks scheduled, operands placed on the belt: genasm to bundles."""
