// SPDX-License-Identifier: Apache-2.0
// The interconnect wrapper of an element: each sink (id, or a channel outwards) has the source (od, or a channel
// inwards) that its word of the configuration names, or none if the highest bit of that is 1. A wire carries whether
// anything drives it, a token's flag, a value. Sinks have no way from sources that the machine's adjacency lacks.
module wrapper #(
`include "machine.vh"
) (
    input clk, input clear,
    input load, input [15:0] load_at, input [31:0] load_word,
    input [SOURCES*WIRE-1:0] sources, output [SINKS*WIRE-1:0] sinks
);
    localparam [SOURCES-1:0] ONE = 1;
    genvar n;
    generate
        for (n = 0; n < SINKS; n = n + 1) begin : sink
            localparam [SOURCES-1:0] ALLOWED = ADJACENCY[SOURCES*n+:SOURCES];
            reg [SOURCES-1:0] chosen;
            reg [SOURCE-1:0] source;
            selector #(.COUNT(SOURCES), .WIDTH(WIRE), .INDEX(SOURCE), .ALLOWED(ALLOWED)) selector (
                .chosen(chosen), .index(source), .words(sources), .word(sinks[WIRE*n+:WIRE]));
            always @(posedge clk)
                if (clear) chosen <= 0;
                else if (load && load_at == n) begin
                    chosen <= load_word[31] ? 0 : ONE << load_word[SOURCE-1:0] & ALLOWED;
                    source <= load_word[SOURCE-1:0];
                end
        end
    endgenerate
endmodule
