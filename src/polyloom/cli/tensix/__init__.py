# SPDX-License-Identifier: Apache-2.0
"""Verbs of Tensix: the entry of the target names them."""
