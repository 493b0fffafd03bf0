# SPDX-License-Identifier: Apache-2.0
"""x"""
from __future__ import annotations
from polyloom.diagnostics import Diagnostic, Source
from polyloom.frontend.c.clang import _diagnostics

def explainer(source, headers):
    def explained(messages: str):
        print(messages[:3000])
        return _diagnostics(messages)
    return explained
