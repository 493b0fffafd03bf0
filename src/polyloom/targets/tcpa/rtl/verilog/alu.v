// SPDX-License-Identifier: Apache-2.0
// Operations of one lane on words of 32 bits, numbered as in native/tcpa/operations.hpp, but divisions and roots. An
// operation that no opcode of KNOWN has is not built.
module alu #(
`include "machine.vh"
    , parameter [655:0] KNOWN = 0
) (
    input [9:0] opcode,
    input [WORD-1:0] a, b, c,
    output [WORD-1:0] result
);
    // Types without f32, and operations on f32 or that give one.
    localparam [15:0] INTEGERS = 16'hfff7;
    localparam ADDS = KNOWN[19] | KNOWN[35] | KNOWN[339], MULTIPLIES = KNOWN[51] | KNOWN[339];
    localparam TO_INTEGER = KNOWN[419] | KNOWN[435] | KNOWN[451] | KNOWN[467] | KNOWN[483] | KNOWN[499] | KNOWN[579];
    localparam FROM_INTEGER = |KNOWN[528+:16];
    localparam COMPARES = KNOWN[83] | KNOWN[99] | KNOWN[195] | KNOWN[211] | KNOWN[227] | KNOWN[243] | KNOWN[259]
                        | KNOWN[275] | KNOWN[307] | KNOWN[323] | KNOWN[515];
    wire [5:0] operation = opcode[9:4];
    wire [3:0] kind = opcode[3:0];
    wire is_signed = kind < 3;
    wire is_byte = kind == 0 || kind == 4;
    wire is_half = kind == 1 || kind == 5;
    // A 33rd bit keeps u32 apart from i32, so that one comparison serves both.
    wire signed [WORD:0] x = {is_signed & a[WORD-1], a}, y = {is_signed & b[WORD-1], b};
    wire [4:0] amount = b[4:0] & (is_byte ? 5'd7 : is_half ? 5'd15 : 5'd31);
    wire [WORD-1:0] product = |({KNOWN[48+:16], KNOWN[336+:16]} & {2{INTEGERS}}) ? a * b : 0;
    wire signed [WORD:0] shifted = |KNOWN[176+:16] ? x >>> amount : 0;
    wire signed [WORD-1:0] word = a;
    localparam ORDERS = |({KNOWN[80+:32], KNOWN[224+:64]} & {6{INTEGERS}});
    localparam EQUALITIES = |(KNOWN[192+:32] & {2{INTEGERS}});
    wire less = ORDERS && x < y, less_other = ORDERS && y < x, equal = EQUALITIES && x == y;
    reg [WORD-1:0] wide;
    reg [3:0] width;

    wire [WORD-1:0] own, integer_result;
    narrow narrow_a (.kind(kind), .value(a), .word(own));
    narrow narrow_result (.kind(width), .value(wide), .word(integer_result));
    generate
        if (ADDS || MULTIPLIES || TO_INTEGER || FROM_INTEGER || COMPARES) begin : floats
            // Moves, selections and bits are the same of all words.
            wire computes = operation == 33 || kind == 3 && operation != 0 && operation != 18 && operation != 39;
            wire [WORD-1:0] float_result;
            float_alu #(
                .ADDS(ADDS), .MULTIPLIES(MULTIPLIES), .TO_INTEGER(TO_INTEGER), .FROM_INTEGER(FROM_INTEGER)
            ) float_alu (
                .enable(computes), .operation(operation), .a(a), .b(b), .c(c), .integer_word(own), .is_signed(is_signed),
                .result(float_result));
            assign result = computes ? float_result : integer_result;
        end else
            assign result = integer_result;
    endgenerate
    always @* begin
        width = kind;
        case (operation)
            0: wide = a;
            1: wide = |(KNOWN[16+:16] & INTEGERS) ? a + b : 0;
            2: wide = |(KNOWN[32+:16] & INTEGERS) ? a - b : 0;
            3: wide = product;
            10: wide = |KNOWN[160+:16] ? a << amount : 0;
            18: wide = |KNOWN[288+:16] ? (|a ? b : c) : 0;
            19: wide = |(KNOWN[304+:16] & INTEGERS) ? 0 - a : 0;
            20: wide = |(KNOWN[320+:16] & INTEGERS) ? (x < 0 ? 0 - a : a) : 0;
            21: wide = |(KNOWN[336+:16] & INTEGERS) ? product + c : 0;
            26: {width, wide} = {4'd0, own};
            27: {width, wide} = {4'd1, own};
            29: {width, wide} = {4'd4, own};
            30: {width, wide} = {4'd5, own};
            default: begin
                width = 2;
                case (operation)
                    5: wide = less_other ? b : a;
                    6: wide = less ? b : a;
                    7: wide = |KNOWN[112+:16] ? a & b : 0;
                    8: wide = |KNOWN[128+:16] ? a | b : 0;
                    9: wide = |KNOWN[144+:16] ? a ^ b : 0;
                    11: wide = shifted[WORD-1:0];
                    12: wide = equal;
                    13: wide = EQUALITIES && !equal;
                    14: wide = less;
                    15: wide = ORDERS && !less_other;
                    16: wide = less_other;
                    17: wide = ORDERS && !less;
                    32: wide = |own;
                    37: wide = !KNOWN[594] ? 0 : word < -128 ? -128 : word > 127 ? 127 : word;
                    38: wide = !KNOWN[610] ? 0 : word < 0 ? 0 : word > 255 ? 255 : word;
                    default: wide = own;
                endcase
            end
        endcase
    end
endmodule
