// SPDX-License-Identifier: Apache-2.0
// The operations of a functional unit that have one latency: what is issued in cycle t leaves in cycle t + LATENCY - 1,
// at whose end registers take it. A LATENCY above 2 gives a cycle of its own to the choice of operands.
module lane #(
`include "machine.vh"
    , parameter [655:0] KNOWN = 0, parameter LATENCY = 1, parameter BLOCKING = 0
) (
    input clk, input reset,
    input issue, input [9:0] opcode, input [3*WORD-1:0] operands, input [DEST-1:0] to,
    output hit, output busy, output zero, output done, output [WORD-1:0] value, output [DEST-1:0] written
);
    localparam DIVIDES = |{KNOWN[68+:12], KNOWN[64+:3], KNOWN[368+:48]}, ROOTS = KNOWN[355];
    localparam FLOAT_DIVIDES = KNOWN[67] || ROOTS;
    wire divides = DIVIDES && (opcode[9:4] == 4 && opcode[3:0] != 3 || opcode[9:4] >= 23 && opcode[9:4] < 26);
    wire is_root = opcode[9:4] == 22;
    wire float_divides = FLOAT_DIVIDES && opcode[3:0] == 3 && (opcode[9:4] == 4 || is_root);
    wire [WORD-1:0] a = operands[0+:WORD], b = operands[WORD+:WORD], c = operands[2*WORD+:WORD];
    wire [WORD-1:0] result, quotient, float_quotient;
    wire float_active;
    assign hit = issue && opcode < 656 && KNOWN[opcode];
    assign zero = hit && divides && b == 0;
    wire [9:0] code;
    wire [3*WORD-1:0] words;
    alu #(.KNOWN(KNOWN)) alu (.opcode(code), .a(words[0+:WORD]), .b(words[WORD+:WORD]), .c(words[2*WORD+:WORD]), .result(result));
    generate
        if (LATENCY > 2) begin : chosen
            reg [10+3*WORD-1:0] kept;
            assign {code, words} = kept;
            always @(posedge clk) if (hit) kept <= {opcode, operands};
        end else
            assign {code, words} = {opcode, operands};
        if (DIVIDES)
            divider #(.LATENCY(LATENCY)) divider (
                .clk(clk), .start(hit), .opcode(opcode), .a(a), .b(b), .result(quotient));
        else
            assign quotient = 'bx;
        if (FLOAT_DIVIDES)
            float_divider #(.LATENCY(LATENCY), .ROOTS(ROOTS)) float_divider (
                .clk(clk), .start(hit), .active(float_active), .root(is_root), .a(a), .b(b), .result(float_quotient));
        else
            assign float_quotient = 'bx;
        if (LATENCY == 1) begin : at_once
            assign float_active = hit;
            assign busy = 0;
            assign done = hit;
            assign value = divides ? quotient : float_divides ? float_quotient : result;
            assign written = hit ? to : 0;
        end else begin : later
            reg [LATENCY-2:0] valid, by_division, by_float_division;
            localparam LATER = LATENCY > 2 ? LATENCY - 2 : 1;
            reg [(LATENCY-1)*DEST-1:0] destinations;
            reg [LATER*WORD-1:0] results;
            wire moving = hit || |valid;
            assign float_active = moving;
            assign busy = BLOCKING && |valid;
            assign done = valid[LATENCY-2];
            assign written = done ? destinations[(LATENCY-2)*DEST+:DEST] : 0;
            assign value = by_division[LATENCY-2] ? quotient
                         : by_float_division[LATENCY-2] ? float_quotient
                         : results[(LATER-1)*WORD+:WORD];
            always @(posedge clk)
                if (reset)
                    valid <= 0;
                else if (moving) begin
                    valid <= {valid, hit};
                    by_division <= {by_division, divides};
                    by_float_division <= {by_float_division, float_divides};
                    destinations <= {destinations, to};
                    results <= {results, result};
                end
        end
    endgenerate
endmodule
