# SPDX-License-Identifier: Apache-2.0
"""Source texts: what reads them and turns them into the intermediate representations."""
