// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace parafield::command {
namespace {

std::string number(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string percent(double share) { return std::isnan(share) ? "-" : fmt::format("{:.2f} %", 100 * share); }

/// Adds how many pixels count. `text`: their scores.
template <class Scores>
void add_counted(Report& report, const Scores& scores, const std::string& text) {
  report.json.update(Json{{"density", scores.density},
                          {"pixels", scores.pixels},
                          {"unknown", scores.unknown},
                          {"missing", scores.missing}});
  report.text += fmt::format("{}\ndensity {}, {} pixels count, {} with unknown truth, {} without estimate\n",
                             text, percent(scores.density), scores.pixels, scores.unknown, scores.missing);
}

}  // namespace

Report begin_report(const char* command) {
  return {{{"schema_version", schema_version}, {"command", command}}, {}};
}

void add_scores(Report& report, const FlowScores& scores) {
  const Json named = {
      {"aae", scores.aae}, {"aae_std", scores.aae_std}, {"epe", scores.epe}, {"epe_std", scores.epe_std},
      {"r1", scores.r1},   {"r3", scores.r3},           {"r5", scores.r5}};
  report.json.update(named);
  add_counted(
      report, scores,
      fmt::format("AAE {} degrees (std {}), EPE {} px (std {}), above 1 px {}, 3 px {}, 5 px {}",
                  number(scores.aae, 3), number(scores.aae_std, 3), number(scores.epe, 4),
                  number(scores.epe_std, 4), percent(scores.r1), percent(scores.r3), percent(scores.r5)));
}

void add_scores(Report& report, const DisparityScores& scores) {
  const Json named = {{"bad_0_5", scores.bad_0_5}, {"bad_1", scores.bad_1},     {"bad_2", scores.bad_2},
                      {"bad_4", scores.bad_4},     {"average", scores.average}, {"rms", scores.rms},
                      {"d1_all", scores.d1_all}};
  report.json.update(named);
  add_counted(report, scores,
              fmt::format("error above 0.5 px {}, 1 px {}, 2 px {}, 4 px {}, average {} px, RMS {} px, D1 {}",
                          percent(scores.bad_0_5), percent(scores.bad_1), percent(scores.bad_2),
                          percent(scores.bad_4), number(scores.average, 4), number(scores.rms, 4),
                          percent(scores.d1_all)));
}

void add_scores(Report& report, const MaskScores& scores) {
  const Json named = {{"precision", scores.precision},
                      {"recall", scores.recall},
                      {"f1", scores.f1},
                      {"iou", scores.iou},
                      {"pwc", scores.pwc},
                      {"true_positives", scores.true_positives},
                      {"false_positives", scores.false_positives},
                      {"false_negatives", scores.false_negatives},
                      {"true_negatives", scores.true_negatives},
                      {"unscored", scores.unscored}};
  report.json.update(named);
  report.text += fmt::format(
      "precision {}, recall {}, F1 {}, IoU {}, wrong (PWC) {}\n"
      "pixels: {} true positives, {} false positives, {} false negatives, {} true negatives, {} not scored\n",
      number(scores.precision, 4), number(scores.recall, 4), number(scores.f1, 4), number(scores.iou, 4),
      percent(scores.pwc / 100), scores.true_positives, scores.false_positives, scores.false_negatives,
      scores.true_negatives, scores.unscored);
}

void add_areas(Report& report, double auc, double auc_best) {
  report.json.update(Json{{"auc", auc}, {"auc_best", auc_best}});
  report.text += fmt::format("AUC {} px (best possible {})\n", number(auc, 4), number(auc_best, 4));
}

void add_bar_scores(Report& report, const ErrorBarScores& scores) {
  report.json["error_bars"] = {{"inside68", scores.inside68}, {"inside95", scores.inside95},
                               {"ause", scores.ause},         {"brier1", scores.brier1},
                               {"brier3", scores.brier3},     {"ece1", scores.ece1},
                               {"ece3", scores.ece3},         {"flagged", scores.flagged},
                               {"above1", scores.above1},     {"pixels", scores.pixels}};
  if (!std::isnan(scores.inside68))
    report.text += fmt::format("error bars: 68 % ellipses hold {} %, 95 % ellipses {} %; AUSE {} px\n",
                               number(100 * scores.inside68, 1), number(100 * scores.inside95, 1),
                               number(scores.ause, 4));
  if (!std::isnan(scores.brier1))
    report.text += fmt::format(
        "outliers: {} % of the pixels are flagged, {} % are above 1 px; Brier {}, calibration error {}\n",
        number(100 * scores.flagged, 1), number(100 * scores.above1, 1), number(scores.brier1, 4),
        number(scores.ece1, 4));
}

void note(const std::string& text) {
  std::fputs(fmt::format("parafield: note: {}\n", printable(text)).c_str(), stderr);
}

std::string json_text(const Json& report) {
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(ErrorCode::file, fmt::format("standard output cannot be written: {}", std::strerror(errno)));
}

void print(const Report& report, bool json) {
  try {
    print(json ? json_text(report.json) : report.text);
  } catch (const Error& problem) {
    const auto files = report.json.find("files");
    if (files == report.json.end() || files->empty()) throw;
    const auto names = files->get<std::vector<std::string>>();
    throw Error(problem.code(),
                fmt::format("{}; these files are complete: {}", problem.what(), fmt::join(names, ", ")));
  }
}

}  // namespace parafield::command
