// SPDX-License-Identifier: Apache-2.0
// Restoring division and square root (Handbook of Floating-Point Arithmetic, 2nd ed., 8.6 and 8.7, in radix 2) of a blocking
// lane: in each of LATENCY cycles as many bits as needed, all of them in one cycle where LATENCY is 1. `result` holds in
// the last of the cycles, in all of which `active` is 1: a simulator computes nothing in others.
module float_divider #(
    parameter EXP = 8, parameter MAN = 23, parameter LATENCY = 1, parameter ROOTS = 1
) (
    input clk, input start, input active, input root, input [EXP+MAN:0] a, b, output [EXP+MAN:0] result
);
    // One bit more than the significand, as a quotient may begin with 0, and one to round by.
    localparam P = MAN + 1, BITS = (P + 1 + LATENCY) / LATENCY, ALL = BITS * LATENCY, REST = ALL + 3;
    localparam signed [15:0] BIAS = (1 << (EXP - 1)) - 1, FRACTION = MAN, PLACES = ALL;
    localparam [EXP+MAN:0] QUIET = {1'b0, {EXP+1{1'b1}}, {MAN-1{1'b0}}};
    wire sign_a, sign_b, zero_a, zero_b, infinite_a, infinite_b, nan_a, nan_b;
    wire signed [15:0] field_a, field_b;
    wire [MAN:0] part_a, part_b;
    float_parts #(.EXP(EXP), .MAN(MAN)) parts_a (
        .word(a), .sign(sign_a), .exponent(field_a), .significand(part_a), .is_zero(zero_a),
        .is_infinite(infinite_a), .is_nan(nan_a));
    float_parts #(.EXP(EXP), .MAN(MAN)) parts_b (
        .word(b), .sign(sign_b), .exponent(field_b), .significand(part_b), .is_zero(zero_b),
        .is_infinite(infinite_b), .is_nan(nan_b));
    reg signed [15:0] zeros_a, zeros_b;
    integer n;
    always @* begin
        zeros_a = FRACTION;
        zeros_b = FRACTION;
        if (start)
        for (n = 0; n < P; n = n + 1) begin
            if (part_a[n]) zeros_a = FRACTION - n;
            if (part_b[n]) zeros_b = FRACTION - n;
        end
    end
    wire [MAN:0] digits_a = part_a << zeros_a, digits_b = part_b << zeros_b;
    wire signed [15:0] unit_a = field_a - zeros_a - BIAS - FRACTION;
    wire signed [15:0] unit_b = field_b - zeros_b - BIAS - FRACTION;
    // A root halves the exponent, which is even then: that of the radicand's highest pair of bits.
    wire signed [15:0] pairs = unit_a + FRACTION + 16'sd2;
    wire signed [15:0] root_unit = (pairs >>> 1) - PLACES - 16'sd1;

    wire is_root = ROOTS && root;
    wire sign = is_root ? sign_a && zero_a : sign_a ^ sign_b;
    wire invalid = nan_a || (is_root ? sign_a && !zero_a
                                     : nan_b || infinite_a && infinite_b || zero_a && zero_b);
    wire infinite = infinite_a || !is_root && zero_b;
    wire zero = zero_a || !is_root && infinite_b;

    reg kept_root, kept_sign, kept_invalid, kept_infinite, kept_zero;
    reg signed [15:0] kept_unit;
    reg [P:0] kept_radicand;
    reg [MAN:0] kept_divisor;
    reg [REST-1:0] kept_rest;
    reg [ALL-1:0] kept_quotient;
    wire now_root = start ? is_root : kept_root;
    wire [MAN:0] divisor = start ? digits_b : kept_divisor;
    wire signed [15:0] unit = !start ? kept_unit : is_root ? root_unit : unit_a - unit_b - PLACES;
    wire [4:0] kinds = start ? {is_root, sign, invalid, infinite, zero}
                             : {kept_root, kept_sign, kept_invalid, kept_infinite, kept_zero};
    reg [P:0] radicand;
    reg [REST-1:0] rest, trial;
    reg [ALL-1:0] quotient;
    integer m;
    always @* begin
        radicand = !start ? kept_radicand : pairs[0] ? {digits_a, 1'b0} : {1'b0, digits_a};
        rest = !start ? kept_rest : is_root ? 0 : digits_a;
        quotient = start ? 0 : kept_quotient;
        trial = 'bx;
        if (!active) {rest, quotient} = 'bx;
        else
        for (m = 0; m < BITS; m = m + 1) begin
            rest = now_root ? {rest[REST-3:0], radicand[P-:2]} : {rest[REST-2:0], 1'b0};
            trial = now_root ? {quotient, 2'b01} : {divisor, 1'b0};
            radicand = radicand << 2;
            quotient = quotient << 1;
            if (rest >= trial) begin
                rest = rest - trial;
                quotient[0] = 1;
            end
        end
    end
    wire [EXP+MAN:0] rounded;
    float_round #(.EXP(EXP), .MAN(MAN), .WIDTH(ALL + 1)) round (
        .sign(kinds[3]), .significand({quotient, |rest}), .exponent(unit), .word(rounded));
    assign result = kinds[2] ? QUIET : kinds[1] ? {kinds[3], QUIET[EXP+MAN-1:MAN], {MAN{1'b0}}}
                  : kinds[0] ? {kinds[3], {EXP+MAN{1'b0}}} : rounded;

    always @(posedge clk) begin
        {kept_root, kept_sign, kept_invalid, kept_infinite, kept_zero} <= kinds;
        kept_unit <= unit;
        kept_divisor <= divisor;
        kept_radicand <= radicand;
        kept_rest <= rest;
        kept_quotient <= quotient;
    end
endmodule
