// SPDX-License-Identifier: Apache-2.0
// Firmware that holds one symbolic configuration in flash: a program, or a plan of phases and steps. For each message
// of the host, which names loop bounds and a region of the array, it makes the concrete configuration of each step in
// RAM, says which words banks send each other first, and hands it to the array, word by word.
//
// A message is, in words: the number of values, the values of the parameters in the order of the file, rows, columns.
// The answer is a row of records, each a word that says what it is and then:
//
//     1 a scalar          array, lower and upper half of its value
//     2 a transfer        array, element, side, position and channel of the sender, then of the receiver
//     3 a configuration   phase, number of words, words; then the array runs it
//     0 the end           status (0, or the number of a diagnostic)
#include "board.h"
#include "polyloom_plan.h"

#define VALUES 8
#define SCRATCH 0x20000
#define OUTPUT 0x10000

enum { END, SCALAR, TRANSFER, STEP };

static uint8_t scratch[SCRATCH], output[OUTPUT];

static bool receive(polyloom_walk_request *request, int64_t values[VALUES]) {
    if (!mailbox_receive(&request->value_count) || request->value_count > VALUES) return false;
    for (uint32_t i = 0; i < request->value_count; ++i) {
        uint32_t word;
        if (!mailbox_receive(&word)) return false;
        values[i] = (int32_t)word;
    }
    return mailbox_receive(&request->rows) && mailbox_receive(&request->columns);
}

static void record(uint32_t kind, const uint32_t *words, uint32_t count) {
    array_write(kind);
    for (uint32_t i = 0; i < count; ++i) array_write(words[i]);
}

static uint32_t on_scalar(void *context, uint32_t array, int64_t value) {
    (void)context;
    record(SCALAR, (uint32_t[]){array, (uint32_t)value, (uint32_t)((uint64_t)value >> 32)}, 3);
    return 0;
}

static uint32_t on_transfer(void *context, const polyloom_transfer *t) {
    (void)context;
    record(TRANSFER,
           (uint32_t[]){t->array, t->element, t->from.side, t->from.position, t->from.channel, t->to.side,
                        t->to.position, t->to.channel},
           8);
    return 0;
}

static uint32_t on_step(void *context, const polyloom_step *step) {
    (void)context;
    record(STEP, (uint32_t[]){step->phase, (uint32_t)(step->size / 4)}, 2);  // a file is whole words
    for (const uint8_t *b = step->words; b < step->words + step->size; b += 4)
        array_write(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
    return 0;
}

int main(void) {
    static const polyloom_calls CALLS = {.scalar = on_scalar, .transfer = on_transfer, .step = on_step};
    int64_t values[VALUES];
    polyloom_walk_request request = {
        .symbolic = flash,
        .symbolic_size = flash_size,
        .values = values,
        .output = output,
        .output_size = sizeof output,
        .scratch = scratch,
        .scratch_size = sizeof scratch,
    };
    while (receive(&request, values)) {
        polyloom_walked walked;
        record(END, (uint32_t[]){polyloom_walk(&request, &CALLS, &walked)}, 1);
    }
    return 0;
}
