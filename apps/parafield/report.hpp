#pragma once
#include <string>

#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Text and JSON of results. JSON: shares 0..1, milliseconds, degrees, px; CDnet's pwc alone is in
/// percent; NaN is null.
namespace parafield::command {

/// Adds device, device_name, instruction_set and, for a CPU, threads.
void add_device(Json& report, const DeviceInfo& info);

/// Adds every score by its name: aae ..., bad_0_5 ..., precision ...
void add_scores(Json& report, const FlowScores& scores);
void add_scores(Json& report, const DisparityScores& scores);
void add_scores(Json& report, const MaskScores& scores);

/// The scores in two lines.
std::string scores_text(const FlowScores& scores);
std::string scores_text(const DisparityScores& scores);
std::string scores_text(const MaskScores& scores);

/// "cuda:0 (NVIDIA H100)".
std::string device_text(const DeviceInfo& info);

/// JSON as it is printed, with a line end.
std::string json_text(const Json& report);

/// Text on stdout, at once. Throws Error(file) where it cannot be written.
void print(const std::string& text);

}  // namespace parafield::command
