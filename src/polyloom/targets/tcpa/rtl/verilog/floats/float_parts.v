// SPDX-License-Identifier: Apache-2.0
// Fields of a number (IEEE 754-2019, 3.4): `significand` * 2^(`exponent` - BIAS - MAN) where it is finite; subnormals have
// the exponent 1.
module float_parts #(
    parameter EXP = 8, parameter MAN = 23
) (
    input [EXP+MAN:0] word,
    output sign, output signed [15:0] exponent, output [MAN:0] significand,
    output is_zero, output is_infinite, output is_nan
);
    wire [EXP-1:0] field = word[MAN+:EXP];
    wire any = |word[MAN-1:0];
    assign sign = word[EXP+MAN];
    assign exponent = field == 0 ? 1 : field;
    assign significand = {|field, word[MAN-1:0]};
    assign is_zero = field == 0 && !any;
    assign is_infinite = &field && !any;
    assign is_nan = &field && any;
endmodule
