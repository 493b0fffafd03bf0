# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy and of Python that array programs call, as tables from the object that a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from polyloom.frontend.python.arrays.site import Site

Handler = Callable[..., Any]
"""Takes the site, and the arguments of the call by position or by the names that NumPy has."""


def call_handler(handler: Handler, site: Site, given: Sequence[Any], named: dict[str, Any]) -> Any:
    """What a function gives; raises PL0134 for arguments that it does not take."""
    try:
        signature(handler).bind(site, *given, **named)
    except TypeError as error:
        message = f"`{site.source_text}` has other arguments than a kernel can give: {error}"
        raise site.error("PL0134", message, "leave out what is not on the page of arrays") from None
    return handler(site, *given, **named)
