// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "common/study.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include "common/cuda.hpp"
#endif

namespace parafield::bench {
namespace {

/// Facts about a device; NaN where they are not known.
struct Facts {
  double core_mhz = NAN, processor_mhz = NAN, processors = NAN;
};

/// The processor's clock as the system states it now.
double clock_of_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("cpu MHz")) return std::stod(line.substr(line.find(':') + 1));
  return NAN;
}

Facts facts_of(const Study& study) {
  if (!study.on_cuda()) {
    const double clock = clock_of_cpu();
    return {clock, clock, double(describe_device(study.device).threads)};
  }
  Facts facts;
#ifdef PARAFIELD_HAS_CUDA
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, study.device.index), "cudaDeviceGetAttribute");
    return double(value);
  };
  constexpr int lanes = 128;  // of a multiprocessor, since compute capability 8.6 and in 9.0
  facts.core_mhz = facts.processor_mhz = attribute(cudaDevAttrClockRate) / 1000;
  facts.processors = attribute(cudaDevAttrMultiProcessorCount) * lanes;
#endif
  return facts;
}

}  // namespace

std::vector<Table> device_tables(const Study& study) {
  const DeviceInfo info = describe_device(study.device);
  const Facts facts = facts_of(study);
  Table table{
      "Table 2.1: the devices",
      "The thesis's GPUs as its table 2.1 states them, and this device. A GPU's stream processors are its "
      "multiprocessors times 128 lanes, and its clock is the highest one. A CPU has the threads that the "
      "library uses, and the clock that the system states at the time. Bandwidth: the thesis's is the "
      "maker's; here it is measured by copies within the memory, read and written, with all threads on a "
      "CPU.",
      {"", "8400 GS", "8800 GTX", "GTX 280", info.name},
      {{"core clock, MHz", 450, 575, 602, {facts.core_mhz, 0}},
       {"stream processor clock, MHz", 900, 1350, 1296, {facts.processor_mhz, 0}},
       {"stream processors", 16, 128, 240, {facts.processors, 0}},
       {"device memory, MB", 256, 768, 1024, {double(info.memory) / 1048576, 0}},
       {"memory bandwidth, GB/s",
        {6.4, 1},
        {86.4, 1},
        {141.7, 1},
        {command::copy_bandwidth(info) * 1e-9, 1}}},
      {"8400 GS", "8800 GTX", "GTX 280"},
      0};
  return {std::move(table)};
}

}  // namespace parafield::bench
