# SPDX-License-Identifier: Apache-2.0
"""Genasm: the member-independent form, its text, verifier and interpreter."""
