// SPDX-License-Identifier: Apache-2.0
// A pulse in cycle `delay`, counted from the first one in which `on` holds, then one every `interval` cycles.
module pacer (
    input clk, input load, input [31:0] load_word, input [31:0] interval, input on, output pulse
);
    reg [31:0] left;
    assign pulse = on && left == 0;
    always @(posedge clk)
        if (load) left <= load_word;
        else if (on) left <= (left == 0 ? interval : left) - 1;
endmodule
