// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "parafield/device.hpp"

/// Energy that a device consumes, if the machine can measure it.
namespace parafield::command {

/// An energy counter. It covers the whole device, including the work of other processes.
struct EnergyMeter {
  std::string source;   ///< "nvml", "rapl" or "hwmon"; empty if there is no counter
  std::string missing;  ///< why there is no counter
  std::function<std::optional<double>()> joules =
      {};  ///< energy since an arbitrary start; empty if reading fails

  explicit operator bool() const { return !source.empty(); }
};

/// Returns the energy counter of a device. For a GPU, it covers the board and comes from NVML, which this
/// call loads. For a CPU, it covers the packages in /sys/class/powercap (RAPL), which often only root may
/// read. For both, boards that have neither, such as NVIDIA's Jetson, may have sensors of the whole board's
/// power in /sys/class/hwmon.
EnergyMeter energy_meter(const Device& device);

/// Returns the counter of all packages in a folder laid out like /sys/class/powercap.
EnergyMeter rapl_meter(const std::string& folder);

/// Returns the energy of a board from sensors of voltage and current in a folder laid out like
/// /sys/class/hwmon. Its power is the sensor's that is labeled VDD_IN, or the sum of VDD_GPU_SOC, VDD_CPU_CV
/// and VIN_SYS_5V0. `joules` adds up the power between its calls.
EnergyMeter hwmon_meter(const std::string& folder);

struct Energy {
  double joules = 0, seconds = 0;
  long frames = 0;
};

/// Calls push_some() repeatedly for at least `seconds`; it must return the number of frames that it has
/// solved and waited for. The measurement starts and ends at a change of the counter. Empty if the counter
/// does not change.
std::optional<Energy> measure_energy(const EnergyMeter& meter, double seconds,
                                     const std::function<long()>& push_some);

}  // namespace parafield::command
