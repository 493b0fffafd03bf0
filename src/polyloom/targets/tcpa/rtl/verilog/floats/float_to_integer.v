// SPDX-License-Identifier: Apache-2.0
// The integer of `bits` bits nearest to a number, or next to it toward zero, saturated (native/tcpa/operations.hpp,
// `converted`): a NaN is the greatest one, or 0.
module float_to_integer #(
    parameter EXP = 8, parameter MAN = 23
) (
    input [EXP+MAN:0] a, input nearest, input is_signed, input [5:0] bits, output [31:0] result
);
    localparam signed [15:0] BIAS = (1 << (EXP - 1)) - 1;
    wire sign, is_zero, is_infinite, is_nan;
    wire signed [15:0] exponent, above = exponent - BIAS;
    wire [MAN:0] significand;
    float_parts #(.EXP(EXP), .MAN(MAN)) parts (
        .word(a), .sign(sign), .exponent(exponent), .significand(significand), .is_zero(is_zero),
        .is_infinite(is_infinite), .is_nan(is_nan));
    wire tiny = above < -1, huge = above > 31 || is_infinite;
    // Of a number that is tiny or huge any place will do.
    wire [5:0] places = above + 16'sd1;
    wire [MAN+33:0] shifted = {33'b0, significand} << places;
    wire [32:0] whole = tiny ? 0 : shifted[MAN+33:MAN+1];
    wire up = nearest && !tiny && shifted[MAN] && (|shifted[MAN-1:0] || whole[0]);
    wire [32:0] rounded = whole + up;
    wire [32:0] range = 33'd1 << (bits - is_signed);
    wire [32:0] limit = !sign ? range - 1 : is_signed ? range : 0;
    wire [32:0] magnitude = huge || rounded > limit ? limit : rounded;
    assign result = is_nan ? (nearest ? range - 1 : 0) : sign ? 0 - magnitude : magnitude;
endmodule
