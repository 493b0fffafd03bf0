// SPDX-License-Identifier: Apache-2.0
// The registers of a link from one wrapper to the next.
module hop #(
`include "machine.vh"
) (
    input clk, input reset, input [CHANNELS*WIRE-1:0] in, output [CHANNELS*WIRE-1:0] out
);
    reg [HOP*CHANNELS*WIRE-1:0] stages;
    assign out = stages[(HOP-1)*CHANNELS*WIRE+:CHANNELS*WIRE];
    always @(posedge clk) stages <= reset ? 0 : {stages, in};
endmodule
