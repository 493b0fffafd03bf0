// SPDX-License-Identifier: Apache-2.0
// a * b + c rounded once (IEEE 754-2019, 5.4.1); without MULTIPLIES a + c. The product stays in its place, the addend is
// shifted to the right from above it (Handbook of Floating-Point Arithmetic, 2nd ed., 8.5), and what falls out is one bit.
// The result counts where `enable` is 1.
module float_fma #(
    parameter EXP = 8, parameter MAN = 23, parameter MULTIPLIES = 1
) (
    input enable, input [EXP+MAN:0] a, b, c, output [EXP+MAN:0] result
);
    // Three places below the product: its lowest bit after a subtraction, guard, and rest.
    localparam P = MAN + 1, PRODUCT = MULTIPLIES ? 2 * P : P, BELOW = 3, WIDTH = BELOW + PRODUCT + 2 + P;
    localparam signed [15:0] BIAS = (1 << (EXP - 1)) - 1, FRACTION = MAN, ABOVE = PRODUCT + 2, ALL = WIDTH;
    localparam [EXP+MAN:0] QUIET = {1'b0, {EXP+1{1'b1}}, {MAN-1{1'b0}}};
    wire sign_a, sign_b, sign_c, zero_a, zero_b, zero_c, infinite_a, infinite_b, infinite_c, nan_a, nan_b, nan_c;
    wire signed [15:0] exponent_a, exponent_b, exponent_c;
    wire [MAN:0] part_a, part_b, part_c;
    float_parts #(.EXP(EXP), .MAN(MAN)) parts_a (
        .word(a), .sign(sign_a), .exponent(exponent_a), .significand(part_a), .is_zero(zero_a),
        .is_infinite(infinite_a), .is_nan(nan_a));
    float_parts #(.EXP(EXP), .MAN(MAN)) parts_b (
        .word(b), .sign(sign_b), .exponent(exponent_b), .significand(part_b), .is_zero(zero_b),
        .is_infinite(infinite_b), .is_nan(nan_b));
    float_parts #(.EXP(EXP), .MAN(MAN)) parts_c (
        .word(c), .sign(sign_c), .exponent(exponent_c), .significand(part_c), .is_zero(zero_c),
        .is_infinite(infinite_c), .is_nan(nan_c));

    wire sign = MULTIPLIES ? sign_a ^ sign_b : sign_a;
    wire opposite = sign ^ sign_c;
    wire infinite = infinite_a || MULTIPLIES && infinite_b;
    wire invalid = nan_a || nan_c || infinite && infinite_c && opposite
                || MULTIPLIES && (nan_b || infinite_a && zero_b || zero_a && infinite_b);

    reg [PRODUCT-1:0] product;
    reg signed [15:0] unit, addend_unit, right, sum_unit;
    reg far, less;
    reg [WIDTH-1:0] addend, lost;
    reg [WIDTH:0] x, z, difference, sum;
    always @* begin
        {product, unit, addend_unit, right, far, addend, lost, x, z, difference} = 'bx;
        {sum, sum_unit, less} = 'bx;
        // A simulator computes nothing in cycles without such an operation.
        if (enable) begin
            product = MULTIPLIES ? part_a * {{P{1'b0}}, part_b} : part_a;
            unit = (MULTIPLIES ? exponent_a + exponent_b - BIAS - FRACTION : exponent_a) - BIAS - FRACTION;
            addend_unit = exponent_c - BIAS - FRACTION;
            // A product that is far below the addend, or 0, is but the rest.
            right = ABOVE - (addend_unit - unit);
            far = right < 0 || product == 0;
            {addend, lost} = {part_c, {2*WIDTH-P{1'b0}}} >> (far ? 16'sd0 : right > ALL ? ALL : right);
            x = far ? |product : product << BELOW;
            z = {1'b0, addend[WIDTH-1:1], addend[0] || |lost};
            difference = x - z;
            less = opposite && difference[WIDTH];
            sum = !opposite ? x + z : less ? 0 - difference : difference;
            sum_unit = far ? addend_unit - ABOVE - BELOW : unit - BELOW;
        end
    end
    wire sum_sign = opposite && sum == 0 ? 1'b0 : less ? sign_c : sign;
    wire [EXP+MAN:0] rounded;
    float_round #(.EXP(EXP), .MAN(MAN), .WIDTH(WIDTH + 1)) round (
        .sign(sum_sign), .significand(sum), .exponent(sum_unit), .word(rounded));
    assign result = invalid ? QUIET : infinite ? {sign, QUIET[EXP+MAN-1:MAN], {MAN{1'b0}}} : infinite_c ? c : rounded;
endmodule
