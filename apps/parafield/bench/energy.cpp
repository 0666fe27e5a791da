// SPDX-License-Identifier: MIT
#include "bench/energy.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

namespace parafield::command {
namespace {

/// Returns a function of a library loaded at run time, or null if the library lacks it.
template <class Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Returns "GPU-" and the UUID of a CUDA device, as NVML writes it, or "" if CUDA's driver does not report
/// it.
std::string gpu_identifier(int index) {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return {};
  auto* const init = function_of<int(unsigned)>(library, "cuInit");
  auto* const get = function_of<int(int*, int)>(library, "cuDeviceGet");
  auto* const identify = function_of<int(unsigned char*, int)>(library, "cuDeviceGetUuid_v2");
  int device = 0;
  unsigned char bytes[16] = {};
  if (!init || !get || !identify || init(0) != 0 || get(&device, index) != 0 || identify(bytes, device) != 0)
    return {};
  std::string name = "GPU";
  for (int i = 0; i < 16; ++i)
    name += fmt::format("{}{:02x}", i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
  return name;
}

EnergyMeter nvml_meter(int index) {
  void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return {{}, "NVML (libnvidia-ml.so.1) is not there"};
  auto* const init = function_of<int()>(library, "nvmlInit_v2");
  auto* const find = function_of<int(const char*, void**)>(library, "nvmlDeviceGetHandleByUUID");
  auto* const read =
      function_of<int(void*, unsigned long long*)>(library, "nvmlDeviceGetTotalEnergyConsumption");
  if (!init || !find || !read) return {{}, "NVML lacks functions"};
  if (const int error = init()) return {{}, fmt::format("NVML does not start: error {}", error)};
  const std::string name = gpu_identifier(index);
  void* device = nullptr;  // NVML also numbers devices hidden by CUDA_VISIBLE_DEVICES: use names
  if (const int error = name.empty() ? -1 : find(name.c_str(), &device))
    return {{}, fmt::format("NVML does not know the device: error {}", error)};
  unsigned long long millijoules = 0;
  if (const int error = read(device, &millijoules))
    return {{}, fmt::format("NVML has no energy of this device: error {}", error)};
  return {"nvml", {}, [read, device]() -> std::optional<double> {
            unsigned long long value = 0;
            if (read(device, &value) != 0) return {};
            return double(value) / 1000;
          }};
}

std::optional<double> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  double number = 0;
  if (!(stream >> number)) return {};
  return number;
}

/// The counter of one package. It wraps to 0 at its range.
struct Package {
  std::filesystem::path file;
  double range = 0, last = 0, sum = 0;  // microjoules

  bool read() {
    const std::optional<double> now = number_in(file);
    if (!now) return false;
    sum += *now - last + (*now < last ? range : 0);
    last = *now;
    return true;
  }
};

}  // namespace

EnergyMeter rapl_meter(const std::string& folder) {
  const auto packages = std::make_shared<std::vector<Package>>();
  std::error_code error;
  bool refused = false;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::string name;
    std::ifstream(entry.path() / "name") >> name;
    if (!name.starts_with("package")) continue;
    const auto range = number_in(entry.path() / "max_energy_range_uj");
    Package package{entry.path() / "energy_uj", range.value_or(0)};
    if (const auto now = number_in(package.file)) {
      package.last = *now;
      packages->push_back(package);
    } else {
      refused = true;
    }
  }
  if (refused)
    return {{}, folder + " has counters of energy (RAPL), but they cannot be read: often only root may"};
  if (packages->empty()) return {{}, folder + " has no counter of energy (RAPL)"};
  return {"rapl", {}, [packages]() -> std::optional<double> {
            double sum = 0;
            for (Package& package : *packages) {
              if (!package.read()) return {};
              sum += package.sum;
            }
            return sum / 1e6;
          }};
}

EnergyMeter hwmon_meter(const std::string& folder) {
  namespace fs = std::filesystem;
  /// Files of a sensor: voltage in mV and current in mA.
  struct Rail {
    fs::path voltage, current;
  };
  std::map<std::string, Rail> rails;  // by label
  std::error_code error;
  for (const auto& device : fs::directory_iterator(folder, error))
    for (const auto& file : fs::directory_iterator(device.path(), error)) {
      const std::string name = file.path().filename().string();  // in1_label
      if (!name.starts_with("in") || !name.ends_with("_label")) continue;
      const std::string number = name.substr(2, name.size() - 8);
      std::string label;
      std::ifstream(file.path()) >> label;
      const Rail rail{device.path() / ("in" + number + "_input"),
                      device.path() / ("curr" + number + "_input")};
      if (number_in(rail.voltage) && number_in(rail.current)) rails[label] = rail;
    }
  struct Board {
    std::vector<Rail> rails;
    std::chrono::steady_clock::time_point last;
    double watts = 0, joules = 0;

    /// Adds the energy since the last call, at the mean of the power then and now.
    bool read() {
      double now = 0;
      for (const Rail& rail : rails) {
        const auto millivolts = number_in(rail.voltage), milliamperes = number_in(rail.current);
        if (!millivolts || !milliamperes) return false;
        now += *millivolts * *milliamperes * 1e-6;
      }
      const auto time = std::chrono::steady_clock::now();
      if (last.time_since_epoch().count() != 0)
        joules += (watts + now) / 2 * std::chrono::duration<double>(time - last).count();
      watts = now, last = time;
      return true;
    }
  };
  const auto board = std::make_shared<Board>();
  for (const std::vector<std::string>& labels :
       {std::vector<std::string>{"VDD_IN"}, {"VDD_GPU_SOC", "VDD_CPU_CV", "VIN_SYS_5V0"}}) {
    for (const std::string& label : labels)
      if (rails.count(label)) board->rails.push_back(rails[label]);
    if (board->rails.size() == labels.size())
      return {"hwmon", {}, [board]() -> std::optional<double> {
                if (!board->read()) return {};
                return board->joules;
              }};
    board->rails.clear();
  }
  return {{}, folder + " has no sensor of the board's power (VDD_IN)"};
}

EnergyMeter energy_meter(const Device& device) {
  EnergyMeter meter =
      device.kind == Device::Kind::cuda ? nvml_meter(device.index) : rapl_meter("/sys/class/powercap");
  if (meter) return meter;
  EnergyMeter board = hwmon_meter("/sys/class/hwmon");
  if (!board) board.missing = meter.missing + "; " + board.missing;
  return board;
}

std::optional<Energy> measure_energy(const EnergyMeter& meter, double seconds,
                                     const std::function<long()>& push_some) {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  constexpr double step = 0.02, limit = 2;  // seconds between readings, and the longest without a change
  long frames = 0;
  /// Pushes until the counter changes, but for at least `least` seconds. Returns the counter's new value.
  const auto next_change = [&](double from, double least) -> std::optional<double> {
    const auto begin = Clock::now();
    for (;;) {
      const auto step_begin = Clock::now();
      do frames += push_some();
      while (Seconds(Clock::now() - step_begin).count() < step);
      const double elapsed = Seconds(Clock::now() - begin).count();
      if (elapsed < least) continue;  // NVML takes milliseconds to read, during which the device may be idle
      const std::optional<double> now = meter.joules();
      if (!now || elapsed > least + limit) return {};
      if (*now != from) return now;
    }
  };
  const std::optional<double> before = meter.joules();
  const std::optional<double> first = before ? next_change(*before, 0) : std::nullopt;
  if (!first) return {};
  const auto begin = Clock::now();
  frames = 0;
  std::optional<double> last = next_change(*first, seconds);
  if (last) last = next_change(*last, 0);  // end at a change, too
  if (!last) return {};
  return Energy{*last - *first, Seconds(Clock::now() - begin).count(), frames};
}

}  // namespace parafield::command
