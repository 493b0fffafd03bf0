# SPDX-License-Identifier: Apache-2.0
"""The host's side of the mailbox: `host.py VALUE... ROWS COLUMNS -- COMMAND...` starts the firmware, sends one message,
and writes the configuration that the array got to the standard output. The exit code is 1 where the firmware
refuses."""

from __future__ import annotations

import struct
import subprocess
import sys


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    *values, rows, columns = map(int, arguments[:split])
    message = struct.pack(f"<I{len(values)}i2I", len(values), *values, rows, columns)
    answer = subprocess.run(arguments[split + 1 :], input=message, stdout=subprocess.PIPE, check=True).stdout
    (status,) = struct.unpack_from("<I", answer)
    if status:
        print(f"refused: polyloom explain PL{status:04}", file=sys.stderr)
        return 1
    (words,) = struct.unpack_from("<I", answer, 4)
    sys.stdout.buffer.write(answer[8 : 8 + 4 * words])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
