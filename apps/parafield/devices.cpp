// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "commands.hpp"
#include "report.hpp"

namespace parafield::command {

Report devices_report() {
  const std::string no_cuda = why_no_cuda();
  Report report = begin_report("devices");
  for (const DeviceInfo& info : devices()) {
    const bool cpu = info.device.kind == Device::Kind::cpu;
    Json one = device_json(info);
    if (!cpu) one["multiprocessors"] = info.threads;
    one["memory_bytes"] = info.memory;
    report.json["devices"].push_back(one);
    report.text +=
        fmt::format("{:<7} {}, {} {}, {} {}, {:.1f} GiB\n", to_string(info.device), info.name,
                    cpu ? "instruction set" : "compute capability", info.instruction_set, info.threads,
                    cpu ? "threads" : "multiprocessors", double(info.memory) / (1 << 30));
  }
  report.json["why_no_cuda"] = no_cuda.empty() ? Json(nullptr) : Json(no_cuda);
  if (!no_cuda.empty()) report.text += fmt::format("cuda    none: {}\n", no_cuda);
  return report;
}

void add_devices(App& program) {
  auto [command, json] = add_command(
      program, "devices", "List the usable devices",
      +[](const bool& print_json) { print(devices_report(), print_json); });
  command.add_flag("--json", json, "print one JSON object");
  command.examples({"devices", "devices --json"});
}

}  // namespace parafield::command
