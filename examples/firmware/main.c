// SPDX-License-Identifier: Apache-2.0
// Firmware that holds one symbolic configuration in flash. For each message of the host, which names loop bounds and a
// region of the array, it makes the concrete configuration in RAM and hands it to the array, word by word.
//
// A message is, in words: the number of values, the values of the parameters in the order of the file, rows, columns.
// The answer is the status (0, or the number of a diagnostic); then, if it is 0, the number of words of the
// configuration, and these.
#include "board.h"
#include "polyloom_instantiate.h"

#define VALUES 8
#define SCRATCH 0x20000
#define OUTPUT 0x10000

static uint8_t scratch[SCRATCH], output[OUTPUT];

static bool receive(polyloom_request *request, int64_t values[VALUES]) {
    if (!mailbox_receive(&request->value_count) || request->value_count > VALUES) return false;
    for (uint32_t i = 0; i < request->value_count; ++i) {
        uint32_t word;
        if (!mailbox_receive(&word)) return false;
        values[i] = (int32_t)word;
    }
    return mailbox_receive(&request->rows) && mailbox_receive(&request->columns);
}

static void configure(const uint8_t *file, size_t size) {
    array_write((uint32_t)(size / 4));  // a file is whole words
    for (const uint8_t *b = file; b < file + size; b += 4)
        array_write(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

int main(void) {
    int64_t values[VALUES];
    polyloom_request request = {
        .symbolic = flash,
        .symbolic_size = flash_size,
        .values = values,
        .candidate = POLYLOOM_ALL,
        .output = output,
        .output_size = sizeof output,
        .scratch = scratch,
        .scratch_size = sizeof scratch,
    };
    while (receive(&request, values)) {
        polyloom_result result;
        array_write(polyloom_instantiate(&request, &result));
        if (result.status == POLYLOOM_OK) configure(output, result.output_size);
    }
    return 0;
}
