// SPDX-License-Identifier: Apache-2.0
// Instantiates whatever the tests send, on the board of examples/firmware. A case is, in words: bytes of the symbolic
// file, its bytes (padded), parameters, the two halves of each value, rows, columns. The answer: status, position, what
// is refused, bytes of the concrete file, high-water marks of scratch and stack, and the bytes (padded).
#include "board.h"
#include "polyloom_instantiate.h"

#define FILL 0xA5
#define OWN 512  // of the frame that calls the library, and of what the compiler keeps below it

static uint8_t symbolic[1 << 17], output[1 << 22], scratch[1 << 23];
static int64_t values[64];

static uint32_t word(void) {
    uint32_t w = 0;
    if (!mailbox_receive(&w)) board_stop(0);
    return w;
}

static void store(uint8_t *at, uint32_t w) {
    for (int i = 0; i < 4; ++i) at[i] = (uint8_t)(w >> 8 * i);
}

// Bytes of stack below the frame that this function is called from, by what remains of a painted area.
__attribute__((noinline)) static size_t measured(const polyloom_request *request, polyloom_result *result) {
    enum { AREA = 1 << 17 };
    volatile uint8_t *const top = (volatile uint8_t *)__builtin_frame_address(0), *const end = top - AREA;
    for (volatile uint8_t *p = end; p < top - OWN; ++p) *p = FILL;
    polyloom_instantiate(request, result);
    volatile uint8_t *p = end;
    while (p < top - OWN && *p == FILL) ++p;
    return (size_t)(top - p);
}

static void answer(const polyloom_result *result, size_t stack) {
    array_write(result->status);
    array_write(result->position);
    array_write(result->kind);
    array_write(result->index);
    array_write(result->side);
    array_write(result->place);
    array_write((uint32_t)result->output_size);
    array_write((uint32_t)result->scratch_size);
    array_write((uint32_t)stack);
    const uint8_t *b = output;
    for (size_t i = 0; i < result->output_size; i += 4, b += 4)
        array_write(b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

int main(void) {
    for (;;) {
        polyloom_request request = {.symbolic = symbolic,
                                    .values = values,
                                    .output = output,
                                    .output_size = sizeof output,
                                    .scratch = scratch,
                                    .scratch_size = sizeof scratch};
        request.candidate = POLYLOOM_ALL;
        request.symbolic_size = word();
        if (request.symbolic_size > sizeof symbolic) board_stop(2);
        for (size_t i = 0; i < request.symbolic_size; i += 4) store(symbolic + i, word());
        request.value_count = word();
        if (request.value_count > 64) board_stop(2);
        for (uint32_t i = 0; i < request.value_count; ++i) {
            const uint64_t low = word(), high = word();
            values[i] = (int64_t)(high << 32 | low);
        }
        request.rows = word();
        request.columns = word();
        polyloom_result result;
        const size_t stack = measured(&request, &result);
        answer(&result, stack);
    }
}
