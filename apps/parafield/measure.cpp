// SPDX-License-Identifier: MIT
#include "measure.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>

namespace parafield::command {
namespace {

/// Returns the busy ticks and all ticks of the processors since the machine started.
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

}  // namespace

nlohmann::ordered_json times_json(const Times& times) {
  return {{"median_milliseconds", times.median},
          {"p10_milliseconds", times.p10},
          {"p90_milliseconds", times.p90},
          {"min_milliseconds", times.min},
          {"repeats", times.repeats}};
}

nlohmann::ordered_json device_json(const DeviceInfo& info) {
  nlohmann::ordered_json json = {{"device", to_string(info.device)},
                                 {"device_name", info.name},
                                 {"instruction_set", info.instruction_set}};
  if (info.device.kind == Device::Kind::cpu) json["threads"] = info.threads;
  return json;
}

std::string device_text(const DeviceInfo& info) {
  const bool is_cpu = info.device.kind == Device::Kind::cpu;
  return fmt::format("{}: {}, {}{}", to_string(info.device), info.name, info.instruction_set,
                     is_cpu ? fmt::format(", {} thread{}", info.threads, info.threads == 1 ? "" : "s") : "");
}

double copy_bandwidth(const DeviceInfo& info) {
  const bool is_cpu = info.device.kind == Device::Kind::cpu;
  const std::size_t most = std::size_t(is_cpu ? 128 : 4096) << 20, bytes = std::min(most, info.memory / 16);
  const int parts = is_cpu ? std::max(1, info.threads) : 1, times = is_cpu ? 2 : 1, width = 1 << 16;
  const Size part{width, int(bytes / std::size_t(width) / std::size_t(parts))};
  std::vector<FrameBuffer> from, to;
  for (int i = 0; i < parts; ++i)
    for (std::vector<FrameBuffer>* list : {&from, &to})
      list->emplace_back(part, PixelFormat::gray_u8, memory_of(info.device));
  if (is_cpu)  // touches all pages
    for (std::vector<FrameBuffer>* list : {&from, &to})
      for (FrameBuffer& frame : *list)
        for (int y = 0; y < part.height; ++y) std::memset(frame.row(y), 1, std::size_t(width));
  const auto copy = [&](std::size_t i) {
    const Frame source = from[i], destination = to[i];
    for (int j = 0; j < times; ++j)
      detail::copy(const_cast<void*>(destination.data), destination.pitch, destination.memory, source.data,
                   source.pitch, source.memory, width, part.height);
  };
  Timer timer(Device::cpu());
  const Times measured = measure({.fixed = 8}, timer, [&](int) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < from.size(); ++i) threads.emplace_back(copy, i);
    copy(0);
  });
  return 2 * double(part.width) * part.height * parts * times / (measured.median / 1000);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%F", std::gmtime(&now));
  return text;
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

std::string markdown_table(const std::vector<std::string>& columns,
                           const std::vector<std::vector<std::string>>& rows, std::size_t left) {
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::string cell = i < cells.size() ? cells[i] : "";
      for (std::size_t at = 0; (at = cell.find('|', at)) != cell.npos; at += 2) cell.insert(at, 1, '\\');
      text += " " + cell + " |";
    }
    return text + "\n";
  };
  std::string text = line(columns) + "|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += i < left ? "---|" : "---:|";
  text += "\n";
  for (const auto& row : rows) text += line(row);
  return text;
}

}  // namespace parafield::command
