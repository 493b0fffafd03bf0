// SPDX-License-Identifier: Apache-2.0
// A token FIFO whose memory is read one cycle ahead, as block RAM is; a token that enters an empty FIFO goes by, so that
// what the memory gives for a word that is being written does not count. The head of an empty FIFO does not count either.
module fifo #(
`include "machine.vh"
) (
    input clk, input reset,
    input push, input [WORD-1:0] in, input pop,
    output [WORD-1:0] head, output reg [FIFO:0] count
);
    (* no_rw_check *) reg [WORD-1:0] memory [0:(1<<FIFO)-1];
    reg [WORD-1:0] ahead, last;
    reg [FIFO-1:0] first, free;
    reg passed;
    wire [FIFO-1:0] next = pop ? first + 1 : first;
    assign head = passed ? last : ahead;
    always @(posedge clk)
        if (reset) begin
            count <= 0;
            first <= 0;
            free <= 0;
        end else if (push || pop || passed) begin
            if (push) memory[free] <= in;
            if (push) free <= free + 1;
            ahead <= memory[next];
            last <= in;
            passed <= push && count == pop;
            first <= next;
            count <= count + push - pop;
        end
endmodule
