# SPDX-License-Identifier: Apache-2.0
"""x"""
def variables(module, headers):
    return {}
