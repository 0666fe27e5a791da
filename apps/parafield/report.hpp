// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "measure.hpp"
#include "parafield/detail/text.hpp"
#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// Results as text and JSON. JSON units: shares 0..1, milliseconds, degrees, px; only CDnet's pwc is in
/// percent. NaN is written as null.
namespace parafield::command {

struct Report {
  Json json;
  std::string text;
};

/// Version of the JSON, which docs/report.schema.json describes. It is incremented when a key is removed or
/// changes its meaning, not when one is added.
inline constexpr int schema_version = 2;

/// Begins a report with schema_version and the name of the command.
Report begin_report(const char* command);

/// Returns what `parafield methods` prints: all tasks and their methods, or only those that have the named
/// method.
Report methods_report(std::string_view name = {});

/// Returns what `parafield devices` prints.
Report devices_report();

/// Adds each score under its name, and two lines of text.
void add_scores(Report& report, const FlowScores& scores);
void add_scores(Report& report, const DisparityScores& scores);
void add_scores(Report& report, const MaskScores& scores);

/// Adds auc and auc_best, and a line of text.
void add_areas(Report& report, double auc, double auc_best);

/// Adds the scores of error bars as "error_bars", and lines of text.
void add_bar_scores(Report& report, const ErrorBarScores& scores);

/// Whether a result has error bars that can be scored.
inline bool has_bars(const FlowField& flow) { return flow.covariance || flow.outlier; }
inline bool has_bars(const DisparityField& disparity) { return disparity.sigma || disparity.outlier; }

/// Adds the scores, including the scores of the confidence if `how` asks for them.
template <class Scores>
void add_scores(Report& report, const Scores& scores, const EvaluationOptions& how) {
  add_scores(report, scores);
  if constexpr (requires { scores.auc; })
    if (how.confidence) add_areas(report, scores.auc, scores.auc_best);
}

/// Adds the scores that score(how) returns. With a mask, also adds the scores of all pixels (JSON: "all").
template <class Score>
void add_scores_both_ways(Report& report, const EvaluationOptions& how, Score score) {
  if (how.mask) report.text += "inside the mask: ";
  add_scores(report, score(how), how);
  if (!how.mask) return;
  Report all{{}, "all pixels: "};
  EvaluationOptions without_mask = how;
  without_mask.mask = {};
  add_scores(all, score(without_mask), without_mask);
  report.json["all"] = all.json;
  report.text += all.text;
}

using detail::printable;

/// Prints "parafield: note: " and the text as one line on stderr. Failures to write to stderr are ignored.
void note(const std::string& text);

/// Returns the JSON as text that ends in a newline.
std::string json_text(const Json& report);

/// Prints text on stdout and flushes. Throws Error(file) on failure.
void print(const std::string& text);

/// Prints the JSON or the text. If that fails, the error message says that the files named in the report are
/// complete.
void print(const Report& report, bool json);

}  // namespace parafield::command
