// SPDX-License-Identifier: Apache-2.0
// The one of COUNT words whose bit in `chosen` is 1, which `index` names, too; any word if no bit is. Synthesis gets a sum
// of products, two words per LUT4, where a tree of multiplexers takes twice as many; a simulator looks the word up.
module selector #(
    parameter COUNT = 2, parameter WIDTH = 32, parameter INDEX = 1, parameter [COUNT-1:0] ALLOWED = {COUNT{1'b1}}
) (
    input [COUNT-1:0] chosen, input [INDEX-1:0] index, input [COUNT*WIDTH-1:0] words, output [WIDTH-1:0] word
);
`ifdef SYNTHESIS
    reg [WIDTH-1:0] sum;
    integer n;
    assign word = sum;
    always @* begin
        sum = 0;
        for (n = 0; n < COUNT; n = n + 1)
            if (ALLOWED[n] && chosen[n]) sum = sum | words[WIDTH*n+:WIDTH];
    end
`else
    assign word = words[WIDTH*index+:WIDTH];
`endif
endmodule
