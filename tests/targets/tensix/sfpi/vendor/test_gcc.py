# SPDX-License-Identifier: Apache-2.0
"""What `make gcc` reads of listings and sources: executed words, and functions that are made to store."""

from __future__ import annotations

from tests.targets.tensix.sfpi.vendor.gcc import listed_words, stored_text

LISTING = """\
_Z4onesv:
\tli\ta5,7
\tTTREPLAY\t0, 2, 1, 1
\tSFPABS\tL0, L0, 1
\tSFPSTORE\t0, L0, 0, 3
\tTTREPLAY\t0, 2, 0, 0
\tret
\t.size\t_Z4onesv, .-_Z4onesv
_Z8branchesv:
\tSFPNOP
\tbne\ta0,a1,.L2
\t.size\t_Z8branchesv, .-_Z8branchesv
"""
SOURCE = """\
void sum()
{
    vInt a = 3;
    vFloat b = -1.5f;
    a = a + 1;
}

void stores()
{
    vInt a = 3;
    dst_reg[0] = a;
}
"""


def test_words_of_a_listing_are_those_that_run() -> None:
    assert dict(listed_words(LISTING)) == {"ones": 4}


def test_what_a_function_leaves_in_registers_is_stored() -> None:
    text, more = stored_text(SOURCE)
    assert more == {"sum": 2, "stores": 0}
    assert "vInt a = dst_reg[64];\n    vFloat b = dst_reg[65];" in text
    assert "dst_reg[96] = a;\n    dst_reg[97] = b;\n}" in text and text.endswith("dst_reg[0] = a;\n}\n")
