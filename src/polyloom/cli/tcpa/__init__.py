# SPDX-License-Identifier: Apache-2.0
"""Verbs of the processor array: the entry of the target names them."""
