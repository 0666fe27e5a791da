#pragma once
#include <CLI/CLI.hpp>

/// The subcommands, one file each. Each function adds its own to the program.
namespace parafield::command {

void add_flow(CLI::App& program);
void add_stereo(CLI::App& program);
void add_detect(CLI::App& program);
void add_eval(CLI::App& program);
void add_color(CLI::App& program);
void add_synth(CLI::App& program);
void add_methods(CLI::App& program);
void add_devices(CLI::App& program);
void add_bench(CLI::App& program);

}  // namespace parafield::command
