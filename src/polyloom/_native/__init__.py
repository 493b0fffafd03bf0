# SPDX-License-Identifier: Apache-2.0
"""The native modules, one per folder of `native/` that has a `bind.cpp`; `NAME.pyi` beside this file documents each.

They know nothing of Polyloom's Python: they take and give bytes, numbers and arrays. Callers check what they pass. All
are in one shared object, which makes them when it is loaded.
"""

from importlib import import_module

import_module("polyloom._native._all")
