// SPDX-License-Identifier: Apache-2.0
// The interconnect wrapper of an element: each sink (id, or a channel outwards) has the source (od, or a channel
// inwards) that its word of the configuration names, or none if the highest bit of that is 1. A wire carries whether
// anything drives it, a token's flag, a value.
module wrapper #(
`include "machine.vh"
) (
    input clk, input clear,
    input load, input [15:0] load_at, input [31:0] load_word,
    input [(OD+4*CHANNELS)*WIRE-1:0] sources, output [(ID+4*CHANNELS)*WIRE-1:0] sinks
);
    genvar n;
    generate
        for (n = 0; n < ID + 4 * CHANNELS; n = n + 1) begin : sink
            reg driven;
            reg [SOURCE-1:0] source;
            assign sinks[WIRE*n+:WIRE] = driven ? sources[WIRE*source+:WIRE] : 0;
            always @(posedge clk)
                if (clear) driven <= 0;
                else if (load && load_at == n) {driven, source} <= {!load_word[31], load_word[SOURCE-1:0]};
        end
    endgenerate
endmodule
