// SPDX-License-Identifier: Apache-2.0
// The floating-point modules in the formats of formats.py, side by side, those of the set FORMATS; dividers
// with latencies 1, 4 and 31.
module bench #(
    parameter FORMATS = 15
) (
    input clk, input [1:0] format, input [5:0] operation, input start,
    input [31:0] a, b, c, input is_signed,
    output [31:0] result, adder, quotient, slow, slowest
);
    wire [127:0] results, adders, quotients, slows, slowests;
    genvar f;
    generate
        for (f = 0; f < 4; f = f + 1) if (FORMATS[f]) begin : formats
            localparam EXP = f == 0 ? 4 : f == 3 ? 8 : 5, MAN = f == 0 ? 3 : f == 1 ? 2 : f == 2 ? 10 : 23;
            localparam HIGH = EXP + MAN;
            float_alu #(.EXP(EXP), .MAN(MAN)) alu (
                .enable(1'b1), .operation(operation), .a(a[HIGH:0]), .b(b[HIGH:0]), .c(c[HIGH:0]), .integer_word(a),
                .is_signed(is_signed), .result(results[32*f+:32]));
            float_alu #(.EXP(EXP), .MAN(MAN), .MULTIPLIES(0), .TO_INTEGER(0), .FROM_INTEGER(0)) without_product (
                .enable(1'b1), .operation(operation), .a(a[HIGH:0]), .b(b[HIGH:0]), .c(c[HIGH:0]), .integer_word(a),
                .is_signed(is_signed), .result(adders[32*f+:32]));
            wire [HIGH:0] first, second, third;
            float_divider #(.EXP(EXP), .MAN(MAN)) at_once (
                .clk(clk), .start(start), .active(1'b1), .root(operation == 22), .a(a[HIGH:0]), .b(b[HIGH:0]), .result(first));
            float_divider #(.EXP(EXP), .MAN(MAN), .LATENCY(4)) in_four (
                .clk(clk), .start(start), .active(1'b1), .root(operation == 22), .a(a[HIGH:0]), .b(b[HIGH:0]), .result(second));
            float_divider #(.EXP(EXP), .MAN(MAN), .LATENCY(31)) in_many (
                .clk(clk), .start(start), .active(1'b1), .root(operation == 22), .a(a[HIGH:0]), .b(b[HIGH:0]), .result(third));
            assign quotients[32*f+:32] = first;
            assign slows[32*f+:32] = second;
            assign slowests[32*f+:32] = third;
        end
    endgenerate
    assign result = results[32*format+:32];
    assign adder = adders[32*format+:32];
    assign quotient = quotients[32*format+:32];
    assign slow = slows[32*format+:32];
    assign slowest = slowests[32*format+:32];
endmodule
