// SPDX-License-Identifier: Apache-2.0
// The number nearest to `significand` * 2^`exponent`, ties to even (IEEE 754-2019, 4.3.1), subnormals and infinity
// included. The lowest bit of the significand stands for all below it, which needs WIDTH >= MAN + 3.
module float_round #(
    parameter EXP = 8, parameter MAN = 23, parameter WIDTH = 32
) (
    input sign, input [WIDTH-1:0] significand, input signed [15:0] exponent, output [EXP+MAN:0] word
);
    localparam signed [15:0] BIAS = (1 << (EXP - 1)) - 1, HIGH = WIDTH - 1, ALL = WIDTH;
    localparam [EXP+MAN-1:0] INFINITE = {{EXP{1'b1}}, {MAN{1'b0}}};
    reg signed [15:0] zeros, most, left, right;
    reg below, guard, rest, up;
    reg [WIDTH-1:0] kept, lost, moved;
    reg [15:0] field;
    reg [MAN+16:0] packed;
    reg [EXP+MAN-1:0] magnitude;
    integer n;
    assign word = {sign, magnitude};
    always @* begin
        zeros = ALL;
        {most, left, right, below, kept, lost, moved, guard, rest, up, field, packed} = 'bx;
        magnitude = 0;
        // A simulator computes nothing for 0, which a unit has in most cycles.
        if (significand != 0) begin
            for (n = 0; n < WIDTH; n = n + 1)
                if (significand[n]) zeros = HIGH - n;
            // Shifts to the left until the highest bit has the exponent of subnormals; negative ones are to the right.
            most = exponent + HIGH + BIAS - 16'sd1;
            left = zeros < most ? zeros : most;
            right = -most > ALL ? ALL : -most;
            below = most < 0;
            {kept, lost} = {significand, {WIDTH{1'b0}}} >> (below ? right : 16'sd0);
            moved = below ? kept : significand << left;
            guard = moved[WIDTH-MAN-2];
            rest = |moved[WIDTH-MAN-3:0] || below && |lost;
            up = guard && (rest || moved[WIDTH-MAN-1]);
            field = below ? 16'd0 : most - left;
            // The hidden bit counts one into the exponent, and so does a carry out of the fraction.
            packed = {1'b0, field, {MAN{1'b0}}} + moved[WIDTH-1-:MAN+1] + up;
            magnitude = packed >= {{17-EXP{1'b0}}, INFINITE} ? INFINITE : packed[EXP+MAN-1:0];
        end
    end
endmodule
