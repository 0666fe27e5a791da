// SPDX-License-Identifier: MIT
#include "bench/compare.hpp"

#include <array>
#include <fstream>

#include "options.hpp"

namespace parafield::command {
namespace {

constexpr std::array ways = {"resident", "streaming", "end_to_end", "overlapped"};

/// Returns the median of one kind of measurement (`way`), or 0 if the row lacks it.
double median_of(const Json& row, const char* way) {
  const auto times = row.find(way);
  if (times == row.end() || !times->is_object()) return 0;
  const auto median = times->find("median_milliseconds");
  return median != times->end() && median->is_number() ? median->get<double>() : 0;
}

/// Returns whether both are equal after serialization, regardless of the order of their keys.
bool are_same(const Json& a, const Json& b) {
  return nlohmann::json::parse(a.dump()) == nlohmann::json::parse(b.dump());
}

std::string name_of_row(const Json& row) {
  const std::string task = row["task"].get<std::string>();
  return fmt::format("{}{} {} {}x{} on {}", task == "flow" ? "" : task + " by ",
                     row["method"].get<std::string>(), row["preset"].get<std::string>(),
                     row["width"].get<int>(), row["height"].get<int>(), row["device"].get<std::string>());
}

}  // namespace

EarlierTimes::EarlierTimes(const std::string& file, double tolerance) : file_(file), tolerance_(tolerance) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorCode::file, file + ": cannot be read");
  report_ = Json::parse(stream, nullptr, false);
  const auto results = report_.is_object() ? report_.find("results") : report_.end();
  if (!report_.is_object() || report_.value("command", Json()) != "bench" || results == report_.end() ||
      !results->is_array())
    throw Error(ErrorCode::invalid_argument, file + ": not the JSON of parafield bench");
  if (const Json version = report_.value("schema_version", Json()); version != schema_version)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: schema_version is {}, not {}", file, version.dump(), schema_version));
}

const Json* EarlierTimes::earlier(const Json& row) const {
  for (const Json& other : report_["results"]) {
    const auto same = [&](const char* key) { return row.value(key, Json()) == other.value(key, Json()); };
    if (other.is_object() && same("task") && same("method") && same("preset") && same("planes") &&
        same("device") && same("width") && same("height"))
      return &other;
  }
  return nullptr;
}

std::string EarlierTimes::compare(Json& row) {
  const Json* const other = earlier(row);
  std::string text;
  if (other) {
    Json ratios = Json::object();
    for (const char* way : ways) {
      const double now = median_of(row, way), before = median_of(*other, way);
      if (!(now > 0) || !(before > 0)) {
        text += "     -";
        continue;
      }
      const double ratio = now / before;
      ratios[way] = ratio;
      text += fmt::format("{}{:.2f}", text.empty() ? "" : "  ", ratio);
      if (ratio > 1 + tolerance_ / 100)
        longer_.push_back(fmt::format("{}, {}: {:.2f} times", name_of_row(row), way, ratio));
    }
    if (!ratios.empty()) ++compared_;
    row["compared"] = {{"ratios", ratios},
                       {"device_name", other->value("device_name", Json())},
                       {"same_parameters", are_same(other->value("parameters", Json()), row["parameters"])}};
  }
  return text;
}

void EarlierTimes::describe(Json& report) const {
  report["compared_with"] = {{"file", file_}, {"tolerance_percent", tolerance_}};
  if (report_.contains("commit")) report["compared_with"]["commit"] = report_["commit"];
}

void EarlierTimes::check() const {
  if (compared_ == 0)
    throw Error(
        ErrorCode::invalid_argument,
        file_ +
            ": has none of these measurements: they differ in task, method, preset, planes, device or size");
  if (longer_.empty()) return;
  throw RegressionError(fmt::format("{} times are more than {} % above those of {}: {}", longer_.size(),
                                    tolerance_, file_, fmt::join(longer_, "; ")));
}

}  // namespace parafield::command
