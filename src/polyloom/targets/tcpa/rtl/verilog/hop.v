// SPDX-License-Identifier: Apache-2.0
// The registers of a link from one wrapper to the next: words, and two flags for each, of which a reset clears these.
module hop #(
`include "machine.vh"
) (
    input clk, input reset, input [CHANNELS*WORD-1:0] in, input [2*CHANNELS-1:0] in_flags,
    output [CHANNELS*WORD-1:0] out, output [2*CHANNELS-1:0] out_flags
);
    reg [HOP*CHANNELS*WORD-1:0] words;
    reg [HOP*2*CHANNELS-1:0] flags;
    assign out = words[(HOP-1)*CHANNELS*WORD+:CHANNELS*WORD];
    assign out_flags = flags[(HOP-1)*2*CHANNELS+:2*CHANNELS];
    always @(posedge clk) begin
        words <= {words, in};
        flags <= reset ? 0 : {flags, in_flags};
    end
endmodule
