# SPDX-License-Identifier: Apache-2.0
"""Nests as functions in SSA form: the same bits as the interpreter of nests gives."""
