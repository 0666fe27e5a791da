// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "bench/measurement.hpp"
#include "report.hpp"

/// Measurements as JSON, as lines of a table and as Markdown.
namespace parafield::command {

/// A device, with its properties that `parafield bench` measures or needs.
struct BenchDevice {
  DeviceInfo info;
  double copy_bandwidth = 0;  ///< bytes per second
  EnergyMeter meter;

  Json json() const;
  std::string text() const;  ///< "cpu: AMD EPYC, v4, 2 threads; copies 20 GB/s; energy not measured: why"
};

/// Formats a number with about three digits.
std::string short_number(double value);

/// Optional columns.
struct BenchExtras {
  bool energy = false, compares = false;
  int streams = 0;
};

/// The measurements of one task.
class BenchTable {
 public:
  /// `scene` and `data` are names of sequences; `data` may be empty.
  BenchTable(std::string_view task, std::string_view scene, std::string_view data, const BenchExtras& extras);

  std::string head() const;  ///< notes and column names
  /// Adds a row: a cell for each column, or fewer cells followed by the text `rest`. Returns the row as a
  /// line.
  std::string add(std::vector<std::string> cells, std::string rest = {});
  std::string markdown() const;

 private:
  struct Column {
    std::string name;
    int width;
  };

  std::vector<std::string> names() const;
  std::string line(const std::vector<std::string>& cells) const;

  std::string task_;
  std::vector<std::string> notes_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the task, method, device and size of a row as JSON.
template <class Task>
Json case_json(const Case<Task>& one) {
  Json row;
  row["task"] = task_facts<Task>.name;
  row["method"] = name_of(one.method);
  row["preset"] = one.preset;
  row["parameters"] = parameters_json(parameters_of(one.method));
  if (one.flow_alone) row["planes"] = "flow";
  row.update(device_json(one.device));
  row["width"] = one.size.width;
  row["height"] = one.size.height;
  return row;
}

/// Returns the same as the first cells of a row.
template <class Task>
std::vector<std::string> case_cells(const Case<Task>& one) {
  return {to_string(one.device.device), fmt::format("{} {}", name_of(one.method), one.preset),
          fmt::format("{}x{}", one.size.width, one.size.height)};
}

/// Adds the measurements of a case to its JSON and its cells.
template <class Task>
void add_measured(Json& row, std::vector<std::string>& cells, const Case<Task>& one,
                  const Measurement& measured, const BenchDevice& device, const BenchSequence<Task>& scene,
                  const BenchSequence<Task>* data, const BenchExtras& extras) {
  row["resident"] = times_json(measured.resident);
  row["streaming"] = times_json(measured.streaming);
  row["end_to_end"] = times_json(measured.end_to_end);
  if (measured.overlapped) row["overlapped"] = times_json(*measured.overlapped);
  row["workspace_bytes"] = measured.workspace_bytes;
  if (measured.disparities > 0) row["disparities"] = measured.disparities;
  if (measured.frames_per_second) row["frames_per_second"] = *measured.frames_per_second;
  const auto times_text = [](const Times& times) {
    return fmt::format("{:.3f} ({:.3f}-{:.3f})", times.median, times.p10, times.p90);
  };
  for (const Times* times : {&measured.resident, &measured.streaming, &measured.end_to_end})
    cells.push_back(times_text(*times));
  cells.push_back(measured.overlapped ? times_text(*measured.overlapped) : "-");
  const auto add_rate = [&](const char* way, std::size_t bytes, const Times& times) {
    const double rate = double(bytes) / (times.median / 1000), share = rate / device.copy_bandwidth;
    row["traffic"][way] = {{"bytes", bytes}, {"gigabytes_per_second", rate / 1e9}, {"share_of_copy", share}};
    return fmt::format("{} ({:.1f} %)", short_number(rate / 1e9), 100 * share);
  };
  const Traffic traffic = traffic_of(one);
  add_rate("resident", traffic.resident, measured.resident);
  cells.push_back(add_rate("streaming", traffic.streaming, measured.streaming));
  if (const auto& energy = measured.energy)
    row["energy"] = {{"joules_per_frame", energy->joules / double(energy->frames)},
                     {"watts", energy->joules / energy->seconds},
                     {"frames", energy->frames},
                     {"seconds", energy->seconds}};
  if (extras.energy)
    cells.push_back(measured.energy
                        ? short_number(1000 * measured.energy->joules / double(measured.energy->frames))
                        : "-");
  const auto add_scores = [&](const char* key, const BenchSequence<Task>& sequence,
                              const BenchScores& scores) {
    Json json = {{"name", sequence.name}};
    if (sequence.seed > 0) {
      json["frames"] = sequence.frames.size();
      json["seed"] = sequence.seed;
    }
    for (const auto& [name, value] : scores) {
      json[name] = value;
      if (name == "aae_degrees") {
        // Execution time and accuracy combined (Marzat section 4): microseconds per pixel times degrees.
        const double pixels = double(one.size.width) * one.size.height;
        const double etato = measured.resident.median * 1000 / pixels * value;
        json["etato_microsecond_degrees_per_pixel"] = etato;
        cells.insert(cells.end(), {fmt::format("{:.2f}", value), fmt::format("{:.4f}", etato)});
      } else if (name == "bad_1") {
        cells.push_back(fmt::format("{:.2f} %", 100 * value));
      } else if (name == "f1") {
        cells.push_back(std::isnan(value) ? "-" : fmt::format("{:.3f}", value));
      }
    }
    row[key] = json;
  };
  add_scores("scene", scene, measured.scene);
  if (!measured.data.empty())
    add_scores("data", *data, measured.data);
  else if (data)
    cells.insert(cells.end(), std::is_same_v<Task, Flow> ? 2 : 1, "-");
  if (measured.frames_per_second) cells.push_back(fmt::format("{:.1f}", *measured.frames_per_second));
}

}  // namespace parafield::command
