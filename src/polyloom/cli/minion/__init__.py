# SPDX-License-Identifier: Apache-2.0
"""Verbs of the Minion."""
