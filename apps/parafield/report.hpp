// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Results as text and JSON. Units in JSON: shares 0..1, milliseconds, degrees, px; only CDnet's pwc is in
/// percent. NaN is null.
namespace parafield::command {

struct Report {
  Json json;
  std::string text;
};

/// Version of the JSON, which docs/report.schema.json describes. It rises when a key goes or changes its meaning,
/// not when one is added.
inline constexpr int schema_version = 1;

/// A report that begins with schema_version and the name of the command.
Report begin_report(const char* command);

/// Adds device, device_name, instruction_set and, on a CPU, threads.
void add_device(Json& report, const DeviceInfo& info);

/// Adds scores by their names, and two lines of text.
void add_scores(Report& report, const FlowScores& scores);
void add_scores(Report& report, const DisparityScores& scores);
void add_scores(Report& report, const MaskScores& scores);

/// Adds the scores that score(how) gives. With a mask, the scores of all pixels are added, too (JSON: "all").
template <class Score>
void add_scores_both_ways(Report& report, const EvaluationOptions& how, Score score) {
  if (how.mask) report.text += "inside the mask: ";
  add_scores(report, score(how));
  if (!how.mask) return;
  Report all{{}, "all pixels: "};
  add_scores(all, score({.valid_only = how.valid_only}));
  report.json["all"] = all.json;
  report.text += all.text;
}

/// The text with '?' for control characters, which a file name may have and a terminal would obey.
std::string printable(std::string text);

/// JSON as text, with a line end.
std::string json_text(const Json& report);

/// Prints text on stdout and flushes. Throws Error(file) if that fails.
void print(const std::string& text);

/// Prints the JSON or the text.
void print(const Report& report, bool json);

}  // namespace parafield::command
