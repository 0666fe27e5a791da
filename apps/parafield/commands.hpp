// SPDX-License-Identifier: MIT
#pragma once
#include "command_line.hpp"

/// The subcommands, one file each. Each function adds its command to the program.
namespace parafield::command {

void add_flow(App& program);
void add_stereo(App& program);
void add_detect(App& program);
void add_video(App& program);
void add_tracks(App& program);
void add_clouds(App& program);
void add_eval(App& program);
void add_color(App& program);
void add_convert(App& program);
void add_synth(App& program);
void add_methods(App& program);
void add_devices(App& program);
void add_serve(App& program);
void add_bench(App& program);
void add_generate(App& program);  ///< hidden: writes the manual pages and shell completions

/// Runs the command that the words of `main` name, and returns the exit code.
int run_program(int argc, char** argv);

}  // namespace parafield::command
