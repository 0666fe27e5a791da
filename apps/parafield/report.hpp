#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Results as text and JSON. Units in JSON: shares 0..1, milliseconds, degrees, px; only CDnet's pwc is in
/// percent. NaN is null.
namespace parafield::command {

/// Adds device, device_name, instruction_set and, on a CPU, threads.
void add_device(Json& report, const DeviceInfo& info);

/// Adds every score by its name.
void add_scores(Json& report, const FlowScores& scores);
void add_scores(Json& report, const DisparityScores& scores);
void add_scores(Json& report, const MaskScores& scores);

/// Scores in two lines of text.
std::string scores_text(const FlowScores& scores);
std::string scores_text(const DisparityScores& scores);
std::string scores_text(const MaskScores& scores);

/// Adds the scores that score(how) gives and returns their text. With `both_ways` and a mask, the scores of
/// all pixels are added, too, in "all".
template <class Score>
std::string add_scores_of(Json& report, const EvaluationOptions& how, bool both_ways, Score score) {
  const auto scores = score(how);
  add_scores(report, scores);
  if (!both_ways || !how.mask) return scores_text(scores);
  const auto all = score({.valid_only = how.valid_only});
  add_scores(report["all"], all);
  return "inside the mask: " + scores_text(scores) + "all pixels: " + scores_text(all);
}

/// Device and name: "cuda:0 (NVIDIA H100)".
std::string device_text(const DeviceInfo& info);

/// JSON as text, with a line end.
std::string json_text(const Json& report);

/// Prints text on stdout and flushes. Throws Error(file) if that fails.
void print(const std::string& text);

}  // namespace parafield::command
