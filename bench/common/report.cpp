// SPDX-License-Identifier: MIT
#include "common/report.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

namespace parafield::bench {
namespace {

/// Busy ticks and all ticks of the processors since the machine started.
std::pair<double, double> processor_ticks() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  double busy = 0, total = 0, ticks = 0;
  // user nice system idle iowait irq softirq steal; later columns are part of user
  for (int i = 0; i < 8 && file >> ticks; ++i) {
    total += ticks;
    if (i != 3 && i != 4) busy += ticks;
  }
  return {busy, total};
}

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string markdown(const Table& table) {
  std::string text = fmt::format("\n## {}\n\n{}\n\n", table.title, table.note);
  for (const std::string& column : table.columns) text += "| " + column + " ";
  text += "|\n";
  for (std::size_t i = 0; i < table.columns.size(); ++i) text += i == 0 ? "|---" : "|---:";
  text += "|\n";
  for (const auto& row : table.rows) {
    for (const Cell& cell : row) text += "| " + cell.text + " ";
    text += "|\n";
  }
  return text;
}

std::string markdown(const Report& report) {
  std::string text = fmt::format("# {}\n\n", report.title);
  for (const auto& [name, value] : report.conditions) text += fmt::format("- {}: {}\n", name, value);
  for (const Table& table : report.tables) text += markdown(table);
  return text;
}

/// JSON with a line for each row of a table and for each picture, which changes show well in.
std::string json_text(const Report& report) {
  const auto list = [](const auto& items, const char* indent, auto json_of) {
    std::string text;
    for (const auto& item : items) {
      text += text.empty() ? "" : ",";
      text += std::string("\n") + indent + json_of(item).dump();
    }
    return "[" + text + "]";
  };
  Json conditions = Json::object();
  for (const auto& [name, value] : report.conditions) conditions[name] = value;
  std::string tables;
  for (const Table& table : report.tables) {
    const std::string rows = list(table.rows, "    ", [](const std::vector<Cell>& row) {
      Json values = Json::array();
      for (const Cell& cell : row) values.push_back(cell.value);
      return values;
    });
    tables += fmt::format(
        "{}\n  {{\"title\": {},\n   \"note\": {},\n   \"columns\": {},\n   \"published_rows\": {}, "
        "\"published_columns\": {},\n   \"rows\": {}}}",
        tables.empty() ? "" : ",", Json(table.title).dump(), Json(table.note).dump(),
        Json(table.columns).dump(), table.published_rows, Json(table.published_columns).dump(), rows);
  }
  const std::string pictures = list(report.pictures, "  ", [](const Picture& picture) {
    return Json{{"figure", picture.figure}, {"caption", picture.caption}, {"file", picture.file}};
  });
  return fmt::format("{{\"title\": {},\n \"conditions\": {},\n \"tables\": [{}],\n \"pictures\": {}}}\n",
                     Json(report.title).dump(), conditions.dump(), tables, pictures);
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::file, path + ": the file cannot be written");
}

}  // namespace

Cell::Cell(double number, int decimals) : value(nullptr) {
  if (!std::isfinite(number)) return;
  value = std::stod(fmt::format("{:.6g}", number));
  text = fmt::format("{:.{}f}", number, decimals);
}

Quietness::Quietness() {
  getloadavg(&load_, 1);
  std::tie(busy_, total_) = processor_ticks();
  own_ = own_seconds();
}

std::string Quietness::text() const {
  const auto [busy, total] = processor_ticks();
  if (!(total > total_)) return "unknown";
  const double own = (own_seconds() - own_) * double(sysconf(_SC_CLK_TCK));
  const double others = std::max(0.0, (busy - busy_ - own) / (total - total_));
  return fmt::format(
      "load average {:.1f} at the start; other processes had {:.0f} % of the processors' time{}", load_,
      others * 100, others > 0.05 ? " (not quiet: trust the minima, not the medians)" : "");
}

std::string device_text(const Device& device) {
  const DeviceInfo info = describe_device(device);
  std::string text = fmt::format("{}, {}, {}", to_string(device), info.name, info.instruction_set);
  if (device.kind == Device::Kind::cpu) {
    const int threads = device.threads > 0 ? device.threads : info.threads;
    text += fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s");
  }
  return text;
}

std::string size_text(Size size) { return fmt::format("{}x{}", size.width, size.height); }

void write(const Report& report, const std::string& markdown_file, const std::string& json_file) {
  if (markdown_file.empty())
    std::fputs(markdown(report).c_str(), stdout);
  else
    write_file(markdown_file, markdown(report));
  if (!json_file.empty()) write_file(json_file, json_text(report));
}

}  // namespace parafield::bench
