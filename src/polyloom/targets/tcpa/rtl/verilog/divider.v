// SPDX-License-Identifier: Apache-2.0
// Restoring division (Knuth, The Art of Computer Programming 2, 4.3.1, in base 2) of a blocking lane: in each of LATENCY
// cycles as many bits as needed, all of them in one cycle where LATENCY is 1. `result` holds in the last of the cycles.
module divider #(
`include "machine.vh"
    , parameter LATENCY = 1
) (
    input clk,
    input start,
    input [9:0] opcode,
    input [WORD-1:0] a, b,
    output [WORD-1:0] result
);
    localparam BITS = (WORD + LATENCY - 1) / LATENCY, ALL = BITS * LATENCY;
    wire is_signed = opcode[3:0] < 3;
    reg [9:0] kept_opcode;
    reg kept_negative_a, kept_negative_b;
    reg [WORD-1:0] kept_divisor, kept_rest;
    reg [ALL-1:0] kept_quotient;
    wire [9:0] code = start ? opcode : kept_opcode;
    wire negative_a = start ? is_signed & a[WORD-1] : kept_negative_a;
    wire negative_b = start ? is_signed & b[WORD-1] : kept_negative_b;
    wire [WORD-1:0] divisor = start ? (negative_b ? 0 - b : b) : kept_divisor;
    wire [WORD-1:0] magnitude = negative_a ? 0 - a : a;
    reg [WORD:0] rest;
    reg [ALL-1:0] quotient;
    reg [WORD-1:0] wide;
    reg inexact;
    integer n;
    narrow narrow (.kind(code[3:0]), .value(wide), .word(result));

    always @* begin
        rest = start ? 0 : {1'b0, kept_rest};
        quotient = start ? {{ALL{1'b0}}, magnitude} : kept_quotient;
        for (n = 0; n < BITS; n = n + 1) begin
            rest = {rest[WORD-1:0], quotient[ALL-1]};
            quotient = quotient << 1;
            if (rest >= {1'b0, divisor}) begin
                rest = rest - {1'b0, divisor};
                quotient[0] = 1;
            end
        end
        // Quotients that are rounded down, and the modulo that belongs to them, differ where the signs do.
        inexact = |rest && negative_a != negative_b && code[9:4] >= 24;
        if (code[9:4] == 4 || code[9:4] == 24)
            wide = negative_a != negative_b ? 0 - quotient[WORD-1:0] - {31'b0, inexact} : quotient[WORD-1:0];
        else
            wide = (negative_a ? 0 - rest[WORD-1:0] : rest[WORD-1:0])
                 + (inexact ? (negative_b ? 0 - divisor : divisor) : 0);
    end

    always @(posedge clk) begin
        kept_opcode <= code;
        kept_negative_a <= negative_a;
        kept_negative_b <= negative_b;
        kept_divisor <= divisor;
        kept_rest <= rest[WORD-1:0];
        kept_quotient <= quotient;
    end
endmodule
