# SPDX-License-Identifier: Apache-2.0
"""Embedded data of a page: JSON for the script, and what is large, deflated and in base 64.

Browsers inflate it (`DecompressionStream`) when it is looked at.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode


def embed_json(data: object) -> str:
    """JSON (RFC 8259) that cannot end the element that it stands in."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")


def deflate_base64(data: bytes) -> str:
    """Raw DEFLATE (RFC 1951) in base 64 (RFC 4648), without a header: what browsers call `deflate-raw`."""
    machine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b64encode(machine.compress(data) + machine.flush()).decode()
