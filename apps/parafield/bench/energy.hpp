// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "parafield/device.hpp"

/// Energy that a device takes, where the machine tells it.
namespace parafield::command {

/// A counter of energy. It counts the whole device, with whatever else runs there.
struct EnergyMeter {
  std::string source;   ///< "nvml" or "rapl"; empty where there is no counter
  std::string missing;  ///< why there is none
  std::function<std::optional<double>()> joules =
      {};  ///< since some start; empty if it cannot be read any more

  explicit operator bool() const { return !source.empty(); }
};

/// The counter of a GPU, of its board: by NVML, whose library is loaded when this is called. Of a CPU: that
/// of its packages in /sys/class/powercap (RAPL), which often only root may read.
EnergyMeter energy_meter(const Device& device);

/// The packages' counters in a folder like /sys/class/powercap.
EnergyMeter rapl_meter(const std::string& folder);

struct Energy {
  double joules = 0, seconds = 0;
  long frames = 0;
};

/// Calls push_some(), which returns the number of frames that it solved and waited for, for `seconds` or
/// longer. The time begins and ends when the counter changes. Empty if it does not change.
std::optional<Energy> measure_energy(const EnergyMeter& meter, double seconds,
                                     const std::function<long()>& push_some);

}  // namespace parafield::command
