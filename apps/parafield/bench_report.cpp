#include <fmt/format.h>

#include <array>

#include "bench.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

Json times_json(const Times& times) {
  Json object;
  object["median_milliseconds"] = times.median;
  object["p10_milliseconds"] = times.p10;
  object["p90_milliseconds"] = times.p90;
  object["min_milliseconds"] = times.min;
  object["repeats"] = times.repeats;
  return object;
}

std::string times_text(const Times& times) {
  return fmt::format("{:.3f} ({:.3f}-{:.3f})", times.median, times.p10, times.p90);
}

constexpr const char* columns = "{:<7} {:<29} {:>9} {:>27} {:>27} {:>27} {:>6} {:>8}";

Json case_json(const Case& one) {
  Json report;
  report["task"] = "flow";
  report["method"] = name_of(one.method);
  report["preset"] = one.preset;
  report["parameters"] = parameters_json(parameters_of(one.method));
  add_device(report, one.device);
  report["width"] = one.size.width;
  report["height"] = one.size.height;
  return report;
}

std::array<std::string, 3> case_columns(const Case& one) {
  return {to_string(one.device.device), fmt::format("{} {}", name_of(one.method), one.preset),
          fmt::format("{}x{}", one.size.width, one.size.height)};
}

}  // namespace

Json bench_json(const Case& one, const Measurement& measured, const BenchPair* data) {
  Json report = case_json(one);
  report["resident"] = times_json(measured.resident);
  report["streaming"] = times_json(measured.streaming);
  report["end_to_end"] = times_json(measured.end_to_end);
  report["workspace_bytes"] = measured.workspace_bytes;
  if (measured.frames_per_second) report["frames_per_second"] = *measured.frames_per_second;
  const auto add_accuracy = [&](const char* key, std::string_view name, double aae) {
    report[key]["name"] = name;
    report[key]["aae_degrees"] = aae;
    report[key]["etato_microsecond_degrees_per_pixel"] = etato(measured.resident, one.size, aae);
  };
  add_accuracy("scene", BenchScene::name, measured.scene_aae);
  if (measured.data_aae) add_accuracy("data", data->name, *measured.data_aae);
  return report;
}

std::string bench_header(const BenchPair* data, int streams) {
  std::string text = fmt::format(
      "milliseconds: median (10 % - 90 %); AAE in degrees; ETATO in us x degrees for a pixel\n"
      "AAE and ETATO on the rendered scene {}{}\n\n",
      BenchScene::name, data ? fmt::format(", then on {}", data->name) : "");
  text +=
      fmt::format(columns, "device", "method", "size", "resident", "streaming", "end to end", "AAE", "ETATO");
  if (data) text += fmt::format(" {:>6} {:>8}", "AAE", "ETATO");
  if (streams > 0) text += fmt::format(" {:>24}", fmt::format("frames/s of {} streams", streams));
  return text + "\n";
}

std::string bench_row(const Case& one, const Measurement& measured) {
  const auto [device, method, size] = case_columns(one);
  std::string text = fmt::format(
      columns, device, method, size, times_text(measured.resident), times_text(measured.streaming),
      times_text(measured.end_to_end), fmt::format("{:.2f}", measured.scene_aae),
      fmt::format("{:.4f}", etato(measured.resident, one.size, measured.scene_aae)));
  if (measured.data_aae)
    text += fmt::format(" {:>6.2f} {:>8.4f}", *measured.data_aae,
                        etato(measured.resident, one.size, *measured.data_aae));
  if (measured.frames_per_second) text += fmt::format(" {:>24.1f}", *measured.frames_per_second);
  return text + "\n";
}

Json failure_json(const Case& one, const Error& problem) {
  Json report = case_json(one);
  report["error"] = problem.what();
  return report;
}

std::string failure_row(const Case& one, const Error& problem) {
  const auto [device, method, size] = case_columns(one);
  return fmt::format("{:<7} {:<29} {:>9} failed: {}\n", device, method, size, problem.what());
}

}  // namespace parafield::command
