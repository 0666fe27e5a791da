// SPDX-License-Identifier: MIT
#include "core/cpu/processor_name.hpp"

#include <fstream>
#include <iterator>
#include <vector>

namespace parafield {
namespace {

/// ARM's numbers of implementer and part, as in /proc/cpuinfo, and the core's name.
struct Core {
  const char *implementer, *part, *name;
};
constexpr Core cores[] = {
    {"0x41", "0xd03", "Cortex-A53"},    {"0x41", "0xd04", "Cortex-A35"},
    {"0x41", "0xd05", "Cortex-A55"},    {"0x41", "0xd07", "Cortex-A57"},
    {"0x41", "0xd08", "Cortex-A72"},    {"0x41", "0xd09", "Cortex-A73"},
    {"0x41", "0xd0a", "Cortex-A75"},    {"0x41", "0xd0b", "Cortex-A76"},
    {"0x41", "0xd0c", "Neoverse-N1"},   {"0x41", "0xd0d", "Cortex-A77"},
    {"0x41", "0xd40", "Neoverse-V1"},   {"0x41", "0xd41", "Cortex-A78"},
    {"0x41", "0xd42", "Cortex-A78AE"},  {"0x41", "0xd44", "Cortex-X1"},
    {"0x41", "0xd46", "Cortex-A510"},   {"0x41", "0xd47", "Cortex-A710"},
    {"0x41", "0xd49", "Neoverse-N2"},   {"0x41", "0xd4f", "Neoverse-V2"},
    {"0x41", "0xd83", "Neoverse-V3AE"}, {"0x4e", "0x003", "NVIDIA Denver 2"},
    {"0x4e", "0x004", "NVIDIA Carmel"},
};

std::string core_name(const std::string& implementer, const std::string& part) {
  for (const Core& core : cores)
    if (implementer == core.implementer && part == core.part) return core.name;
  return "ARM core " + implementer + ":" + part;
}

}  // namespace

std::string processor_name(std::istream& cpuinfo, std::string board) {
  while (!board.empty() && (board.back() == '\0' || board.back() == '\n')) board.pop_back();
  std::string implementer, names;
  std::vector<std::string> seen;  // machines may have cores of several kinds
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string value = line.substr(colon + 2);
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) implementer = value;
    if (!line.starts_with("CPU part")) continue;
    const std::string name = core_name(implementer, value);
    bool known = false;
    for (const std::string& other : seen) known |= other == name;
    if (known) continue;
    seen.push_back(name);
    names += (names.empty() ? "" : ", ") + name;
  }
  if (board.empty()) return names.empty() ? "CPU" : names;
  return names.empty() ? board : board + " (" + names + ")";
}

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo"), board("/proc/device-tree/model");
  return processor_name(cpuinfo, {std::istreambuf_iterator<char>(board), {}});
}

}  // namespace parafield
