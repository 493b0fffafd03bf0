// SPDX-License-Identifier: Apache-2.0
// A pulse in cycle `delay`, counted from the first one in which `on` holds, then one every `interval` cycles.
module pacer (
    input clk, input reset, input load, input [31:0] load_word, input [31:0] interval, input on, output pulse
);
    reg [31:0] delay, left;
    assign pulse = on && left == 0;
    always @(posedge clk) if (load) delay <= load_word;
    always @(posedge clk)
        if (reset) left <= delay;
        else if (on) left <= (left == 0 ? interval : left) - 1;
endmodule
