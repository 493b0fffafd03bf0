// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of one lane, but those of float_divider.v, numbered as in native/tcpa/operations.hpp. NaNs
// that arithmetic makes are one, positive and quiet. `integer_word` is what to_f32 converts.
module float_alu #(
    parameter EXP = 8, parameter MAN = 23,
    parameter ADDS = 1, parameter MULTIPLIES = 1, parameter TO_INTEGER = 1, parameter FROM_INTEGER = 1
) (
    input enable, input [5:0] operation, input [EXP+MAN:0] a, b, c, input [31:0] integer_word, input is_signed,
    output reg [31:0] result
);
    localparam [EXP+MAN:0] ONE = {2'b0, {EXP-1{1'b1}}, {MAN{1'b0}}};
    wire sign_a = a[EXP+MAN], sign_b = b[EXP+MAN];
    wire multiplies = operation == 3 || operation == 21;
    wire [EXP+MAN:0] factor = multiplies ? b : ONE;
    // Adding a zero of the product's sign changes nothing.
    wire [EXP+MAN:0] zero = {sign_a ^ sign_b, {EXP+MAN{1'b0}}};
    wire [EXP+MAN:0] addend = !ADDS || operation == 3 ? zero : operation == 21 ? c : {sign_b ^ (operation == 2), b[EXP+MAN-1:0]};
    wire [EXP+MAN:0] sum, converted;
    wire [31:0] whole;
    generate
        if (ADDS || MULTIPLIES)
            float_fma #(.EXP(EXP), .MAN(MAN), .MULTIPLIES(MULTIPLIES)) fma (
                .enable(enable && (multiplies || operation == 1 || operation == 2)), .a(a), .b(factor), .c(addend),
                .result(sum));
        else
            assign sum = 'bx;
        if (TO_INTEGER)
            float_to_integer #(.EXP(EXP), .MAN(MAN)) to_integer (
                .a(a), .nearest(operation == 36), .is_signed(operation < 29 || operation == 36),
                .bits(operation == 26 || operation == 29 ? 6'd8 : operation == 27 || operation == 30 ? 6'd16 : 6'd32),
                .result(whole));
        else
            assign whole = 'bx;
        if (FROM_INTEGER) begin : from_integer
            wire negative = is_signed && integer_word[31];
            // A place more, so that the lowest bit is none of the number.
            wire [32:0] magnitude = {negative ? 0 - integer_word : integer_word, 1'b0};
            float_round #(.EXP(EXP), .MAN(MAN), .WIDTH(33)) round (
                .sign(negative), .significand(operation == 33 ? magnitude : 33'd0), .exponent(-16'sd1), .word(converted));
        end else
            assign converted = 'bx;
    endgenerate

    wire [EXP+MAN-1:0] magnitude_a = a[EXP+MAN-1:0], magnitude_b = b[EXP+MAN-1:0];
    localparam [EXP+MAN-1:0] INFINITE = {{EXP{1'b1}}, {MAN{1'b0}}};
    wire nan_a = magnitude_a > INFINITE, ordered = !nan_a && magnitude_b <= INFINITE;
    wire equal = ordered && (a == b || magnitude_a == 0 && magnitude_b == 0);
    wire larger = sign_a ? magnitude_a < magnitude_b : magnitude_a > magnitude_b;
    wire greater = ordered && !equal && (sign_a != sign_b ? sign_b : larger);
    wire less = ordered && !equal && !greater;
    always @*
        case (operation)
            5: result = nan_a || greater ? b : a;
            6: result = nan_a || less ? b : a;
            12: result = equal;
            13: result = !equal;
            14: result = less;
            15: result = less || equal;
            16: result = greater;
            17: result = greater || equal;
            19: result = {!sign_a, magnitude_a};
            20: result = magnitude_a;
            32: result = |magnitude_a;
            33: result = converted;
            26, 27, 28, 29, 30, 31, 36: result = whole;
            default: result = sum;
        endcase
endmodule
