#pragma once
#include <string>

#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Text and JSON of results. JSON: shares 0..1, milliseconds, degrees, px; NaN is null.
namespace parafield::command {

/// Adds device, device_name, instruction_set and, for a CPU, threads.
void add_device(Json& report, const DeviceInfo& info);

/// Adds aae ... missing.
void add_scores(Json& report, const FlowScores& scores);

/// The scores in two lines.
std::string scores_text(const FlowScores& scores);

/// "cuda:0 (NVIDIA H100)".
std::string device_text(const DeviceInfo& info);

/// JSON as it is printed, with a line end.
std::string json_text(const Json& report);

/// Text on stdout, at once. Throws Error(file) where it cannot be written.
void print(const std::string& text);

}  // namespace parafield::command
