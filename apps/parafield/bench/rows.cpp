// SPDX-License-Identifier: MIT
#include "bench/rows.hpp"

#include <fmt/ranges.h>

namespace parafield::command {
namespace {

constexpr std::size_t left_columns = 2;  // device and method
constexpr int time_width = 27;

std::string names_of_columns(std::string_view task) {
  return task == "flow" ? "AAE and ETATO" : task == "stereo" ? "bad" : "F1";
}

}  // namespace

std::string short_number(double value) {
  const int before = value >= 1 ? int(std::log10(value)) + 1 : 1;
  return fmt::format("{:.{}f}", value, std::max(0, 3 - before));
}

Json BenchDevice::json() const {
  Json json = device_json(info);
  json["copy_gigabytes_per_second"] = copy_bandwidth / 1e9;
  json["energy_source"] = meter ? Json(meter.source) : Json(nullptr);
  if (!meter) json["why_no_energy"] = meter.missing;
  return json;
}

std::string BenchDevice::text() const {
  return fmt::format("{}; copies {} GB/s; {}", device_text(info), short_number(copy_bandwidth / 1e9),
                     meter ? "energy by " + meter.source : "energy is not measured: " + meter.missing);
}

BenchTable::BenchTable(std::string_view task, std::string_view scene, std::string_view data,
                       const BenchExtras& extras)
    : task_(task) {
  notes_ = {"milliseconds: median (10 % - 90 %)"};
  if (task == "flow") notes_.back() += "; AAE in degrees; ETATO in us x degrees for a pixel";
  if (task == "stereo") notes_.back() += "; bad: pixels whose disparity is off by more than 1 px";
  if (task == "detection") notes_.back() += "; F1 of the later half of the frames";
  notes_.push_back(fmt::format("{} on the rendered scene {}{}", names_of_columns(task), scene,
                               data.empty() ? "" : fmt::format(", then on {}", data)));
  notes_.emplace_back(
      "GB/s: gray frames in and results out, once each, in the time of streaming (share of a copy's)");
  if (extras.energy) notes_.emplace_back("mJ: energy of the device for a pushed frame, one after the other");
  columns_ = {{"device", 7}, {"method", task == "detection" ? 36 : 29}, {"size", 9}};
  for (const char* way : {"resident", "streaming", "end to end", "overlapped"})
    columns_.push_back({way, time_width});
  columns_.push_back({"GB/s", 14});
  if (extras.energy) columns_.push_back({"mJ", 8});
  for (int i = 0; i < (data.empty() ? 1 : 2); ++i) {
    if (task == "flow") {
      columns_.push_back({"AAE", 6});
      columns_.push_back({"ETATO", 8});
    } else {
      columns_.push_back({task == "stereo" ? "bad" : "F1", 8});
    }
  }
  if (extras.streams > 0) columns_.push_back({fmt::format("frames/s of {} streams", extras.streams), 24});
  if (extras.compares) columns_.push_back({"ratios to --compare", 23});
}

std::string BenchTable::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const int width = i < columns_.size() ? columns_[i].width : 0;
    text += i == 0 ? "" : " ";
    text +=
        i < left_columns ? fmt::format("{:<{}}", cells[i], width) : fmt::format("{:>{}}", cells[i], width);
  }
  return text + "\n";
}

std::vector<std::string> BenchTable::names() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return names;
}

std::string BenchTable::head() const {
  return fmt::format("{}\n{}\n\n{}", task_, fmt::join(notes_, "\n"), line(names()));
}

std::string BenchTable::add(std::vector<std::string> cells, std::string rest) {
  if (!rest.empty()) cells.push_back(std::move(rest));
  rows_.push_back(std::move(cells));
  return line(rows_.back());
}

std::string BenchTable::markdown() const {
  std::string text = fmt::format("\n## {}\n\n", task_);
  for (const std::string& note : notes_) text += fmt::format("- {}\n", note);
  return text + "\n" + markdown_table(names(), rows_, left_columns);
}

}  // namespace parafield::command
