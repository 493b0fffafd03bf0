// SPDX-License-Identifier: Apache-2.0
// The interconnect wrapper of an element: each sink (id, or a channel outwards) has the source (od, or a channel
// inwards) that its word of the configuration names, or none if the highest bit of that is 1. A wire has a word, whether
// it is a token, and whether anything drives it. Sinks have no way from sources that the machine's adjacency lacks.
module wrapper #(
`include "machine.vh"
) (
    input clk, input clear,
    input load, input [15:0] load_at, input [31:0] load_word,
    input [SOURCES*WORD-1:0] sources, input [SOURCES-1:0] tokens, input [SOURCES-1:0] driven,
    output [SINKS*WORD-1:0] sinks, output [SINKS-1:0] sink_tokens, output [SINKS-1:0] sink_driven
);
    localparam [SOURCES-1:0] ONE = 1;
    genvar n;
    generate
        for (n = 0; n < SINKS; n = n + 1) begin : sink
            localparam [SOURCES-1:0] ALLOWED = ADJACENCY[SOURCES*n+:SOURCES];
            reg [SOURCES-1:0] chosen;
            reg [SOURCE-1:0] source;
            selector #(.COUNT(SOURCES), .WIDTH(WORD), .INDEX(SOURCE), .ALLOWED(ALLOWED)) selector (
                .chosen(chosen), .index(source), .words(sources), .word(sinks[WORD*n+:WORD]));
            assign sink_tokens[n] = |(chosen & tokens & ALLOWED);
            assign sink_driven[n] = |(chosen & driven & ALLOWED);
            always @(posedge clk)
                if (clear) chosen <= 0;
                else if (load) begin
                    if (load_at == n) begin
                        chosen <= load_word[31] ? 0 : ONE << load_word[SOURCE-1:0] & ALLOWED;
                        source <= load_word[SOURCE-1:0];
                    end
                end
        end
    endgenerate
endmodule
