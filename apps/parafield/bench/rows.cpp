// SPDX-License-Identifier: MIT
#include "bench/rows.hpp"

#include <fmt/ranges.h>

#include <cmath>

namespace parafield::command {
namespace {

constexpr std::size_t left_columns = 2;  // device and method
constexpr int time_width = 27;

Json times_json(const Times& times) {
  return {{"median_milliseconds", times.median},
          {"p10_milliseconds", times.p10},
          {"p90_milliseconds", times.p90},
          {"min_milliseconds", times.min},
          {"repeats", times.repeats}};
}

std::string times_text(const Times& times) {
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", times.median, times.p10, times.p90);
}

/// Formats a number with about three digits.
std::string short_number(double value) {
  const int before = value >= 1 ? int(std::log10(value)) + 1 : 1;
  return fmt::format("{:.{}f}", value, std::max(0, 3 - before));
}

struct Rate {
  double gigabytes, share;  // GB/s, and its share of the copy bandwidth
};
Rate rate_of(std::size_t bytes, const Times& times, double copy_bandwidth) {
  const double rate = double(bytes) / (times.median / 1000);
  return {rate / 1e9, rate / copy_bandwidth};
}

Json rate_json(std::size_t bytes, const Times& times, double copy_bandwidth) {
  const Rate rate = rate_of(bytes, times, copy_bandwidth);
  return {{"bytes", bytes}, {"gigabytes_per_second", rate.gigabytes}, {"share_of_copy", rate.share}};
}

std::string names_of_columns(std::string_view task) {
  return task == "flow" ? "AAE and ETATO" : task == "stereo" ? "bad" : "F1";
}

}  // namespace

Json device_json(const BenchDevice& device) {
  Json json = Json::object();
  add_device(json, device.info);
  json["copy_gigabytes_per_second"] = device.copy_bandwidth / 1e9;
  json["energy_source"] = device.meter ? Json(device.meter.source) : Json(nullptr);
  if (!device.meter) json["why_no_energy"] = device.meter.missing;
  return json;
}

std::string device_text(const BenchDevice& device) {
  const DeviceInfo& info = device.info;
  const bool cpu = info.device.kind == Device::Kind::cpu;
  return fmt::format(
      "{}: {}, {}{}; copies {} GB/s; {}", to_string(info.device), info.name, info.instruction_set,
      cpu ? fmt::format(", {} thread{}", info.threads, info.threads == 1 ? "" : "s") : "",
      short_number(device.copy_bandwidth / 1e9),
      device.meter ? "energy by " + device.meter.source : "energy is not measured: " + device.meter.missing);
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

std::string BenchTable::head() const {
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  return fmt::format("{}\n{}\n\n{}", task_, fmt::join(notes_, "\n"), line(names));
}

std::string BenchTable::add(std::vector<std::string> cells, std::string rest) {
  if (!rest.empty()) cells.push_back(std::move(rest));
  rows_.push_back(std::move(cells));
  return line(rows_.back());
}

std::string BenchTable::markdown() const {
  std::string text = fmt::format("\n## {}\n\n", task_);
  for (const std::string& note : notes_) text += fmt::format("- {}\n", note);
  std::string names = "\n|", rule = "|";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    names += fmt::format(" {} |", columns_[i].name);
    rule += i < left_columns ? "---|" : "---:|";
  }
  text += names + "\n" + rule + "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string cell = i < row.size() ? row[i] : "";
      for (std::size_t at = 0; (at = cell.find('|', at)) != cell.npos; at += 2) cell.insert(at, 1, '\\');
      text += fmt::format(" {} |", cell);
    }
    text += "\n";
  }
  return text;
}

template <class Task>
Json case_json(const Case<Task>& one) {
  Json row;
  row["task"] = task_facts<Task>.name;
  row["method"] = name_of(one.method);
  row["preset"] = one.preset;
  row["parameters"] = parameters_json(parameters_of(one.method));
  if (one.flow_alone) row["planes"] = "flow";
  add_device(row, one.device);
  row["width"] = one.size.width;
  row["height"] = one.size.height;
  return row;
}

template <class Task>
std::vector<std::string> case_cells(const Case<Task>& one) {
  return {to_string(one.device.device), fmt::format("{} {}", name_of(one.method), one.preset),
          fmt::format("{}x{}", one.size.width, one.size.height)};
}

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
  const Traffic traffic = traffic_of(one);
  row["traffic"] = {{"resident", rate_json(traffic.resident, measured.resident, device.copy_bandwidth)},
                    {"streaming", rate_json(traffic.streaming, measured.streaming, device.copy_bandwidth)}};
  for (const Times* times : {&measured.resident, &measured.streaming, &measured.end_to_end})
    cells.push_back(times_text(*times));
  cells.push_back(measured.overlapped ? times_text(*measured.overlapped) : "-");
  const Rate rate = rate_of(traffic.streaming, measured.streaming, device.copy_bandwidth);
  cells.push_back(fmt::format("{} ({:.1f} %)", short_number(rate.gigabytes), 100 * rate.share));
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

template Json case_json(const Case<Flow>&);
template Json case_json(const Case<Stereo>&);
template Json case_json(const Case<Detection>&);
template std::vector<std::string> case_cells(const Case<Flow>&);
template std::vector<std::string> case_cells(const Case<Stereo>&);
template std::vector<std::string> case_cells(const Case<Detection>&);
template void add_measured(Json&, std::vector<std::string>&, const Case<Flow>&, const Measurement&,
                           const BenchDevice&, const BenchSequence<Flow>&, const BenchSequence<Flow>*,
                           const BenchExtras&);
template void add_measured(Json&, std::vector<std::string>&, const Case<Stereo>&, const Measurement&,
                           const BenchDevice&, const BenchSequence<Stereo>&, const BenchSequence<Stereo>*,
                           const BenchExtras&);
template void add_measured(Json&, std::vector<std::string>&, const Case<Detection>&, const Measurement&,
                           const BenchDevice&, const BenchSequence<Detection>&,
                           const BenchSequence<Detection>*, const BenchExtras&);

}  // namespace parafield::command
