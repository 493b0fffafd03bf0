// SPDX-License-Identifier: Apache-2.0
// One operation of one format, as a combinational circuit: the division and the root are those of LATENCY 1, in which
// all bits are computed at once and no register is read. With ADDER, sums are those of a lane without products. All six
// comparisons are one circuit with a bit for each, and above these a bit for each that tells of others that are not 0.
module operation #(
    parameter EXP = 8, parameter MAN = 23, parameter OPERATION = 1, parameter IS_SIGNED = 0, parameter ADDER = 0
) (
    input [31:0] a, b, c, output [31:0] result
);
    generate
        if (OPERATION == 4 || OPERATION == 22) begin : divides
            wire [EXP+MAN:0] quotient;
            float_divider #(.EXP(EXP), .MAN(MAN)) divider (
                .clk(1'b0), .start(1'b1), .active(1'b1), .root(OPERATION == 22), .a(a[EXP+MAN:0]), .b(b[EXP+MAN:0]),
                .result(quotient));
            assign result = quotient;
        end else if (OPERATION == 12) begin : compares
            genvar n;
            for (n = 0; n < 6; n = n + 1) begin : comparisons
                localparam [5:0] NUMBER = 12 + n;
                wire [31:0] relation;
                float_alu #(.EXP(EXP), .MAN(MAN)) alu (
                    .enable(1'b1), .operation(NUMBER), .a(a[EXP+MAN:0]), .b(b[EXP+MAN:0]), .c(c[EXP+MAN:0]),
                    .integer_word(a), .is_signed(1'b0), .result(relation));
                assign result[n] = relation[0];
                assign result[n+6] = |relation[31:1];
            end
            assign result[31:12] = 0;
        end else begin : computes
            float_alu #(.EXP(EXP), .MAN(MAN), .MULTIPLIES(!ADDER)) alu (
                .enable(1'b1), .operation(OPERATION[5:0]), .a(a[EXP+MAN:0]), .b(b[EXP+MAN:0]), .c(c[EXP+MAN:0]),
                .integer_word(a), .is_signed(IS_SIGNED[0]), .result(result));
        end
    endgenerate
endmodule
