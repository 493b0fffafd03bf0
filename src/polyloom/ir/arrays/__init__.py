# SPDX-License-Identifier: Apache-2.0
"""Whole-array programs: values with symbolic shapes, their text, verifier and interpreter."""
