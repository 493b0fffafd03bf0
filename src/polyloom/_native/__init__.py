# SPDX-License-Identifier: Apache-2.0
"""The native modules, one per folder of `native/` that has a `bind.cpp`; `NAME.pyi` beside this file documents each.

They know nothing of Polyloom's Python: they take and give bytes, numbers and arrays. Callers check what they pass.
"""
