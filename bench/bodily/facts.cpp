// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "common/study.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include "common/cuda.hpp"
#endif

namespace parafield::bench {
namespace {

/// A device's clock and number of processors; NaN where they are not known.
struct Facts {
  double mhz = NAN, processors = NAN;
};

/// The processor's clock as the system states it now.
double clock_of_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("cpu MHz")) return std::stod(line.substr(line.find(':') + 1));
  return NAN;
}

Facts facts_of(const Study& study) {
  if (!study.on_cuda()) return {clock_of_cpu(), double(describe_device(study.device).threads)};
  Facts facts;
#ifdef PARAFIELD_HAS_CUDA
  check(cudaSetDevice(study.device.index), "cudaSetDevice");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, study.device.index), "cudaDeviceGetAttribute");
    return double(value);
  };
  constexpr int lanes = 128;  // of a multiprocessor, since compute capability 8.6 and in 9.0
  facts.mhz = attribute(cudaDevAttrClockRate) / 1000;
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
      {{"core clock, MHz", 450, 575, 602, {facts.mhz, 0}},
       {"stream processor clock, MHz", 900, 1350, 1296, {facts.mhz, 0}},
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

namespace {
namespace fs = std::filesystem;

/// Number of lines in a file.
int lines_of(const fs::path& path) {
  std::ifstream file(path);
  return int(std::count(std::istreambuf_iterator(file), {}, '\n'));
}

/// Sources that are counted together.
struct Subject {
  std::string name;
  std::vector<std::string> paths;  ///< files and whole folders, relative to the root
};

}  // namespace

std::vector<Table> line_tables(const Study&) {
  const fs::path root = PARAFIELD_SOURCE_DIR;
  const auto method = [](const std::string& name) {  // and the parts that both methods share
    return std::vector<std::string>{"include/parafield/methods/" + name + ".hpp",
                                    "src/gradient/" + name,
                                    "src/gradient/temporal",
                                    "src/steps/smooth",
                                    "src/steps/convert",
                                    "src/steps/gradient"};
  };
  const auto variant = [](const std::string& name) {
    return std::vector<std::string>{"bench/bodily/" + name + ".cu", "bench/common/launch.cuh"};
  };
  std::vector<Subject> subjects{{"gradient tensor, library: CPU and CUDA", method("gradient_tensor")},
                                {"ridge regression, library: CPU and CUDA", method("ridge_regression")},
                                {"gradient tensor, naive: CUDA", variant("naive")},
                                {"gradient tensor, tiled: CUDA", variant("tiled")}};
  subjects.back().paths.push_back("bench/bodily/convolution.cuh");

  Table table{
      "Table 5.2: source lines of code",
      "All lines, as `wc` and the thesis count them. The thesis's rows are whole programs that read and "
      "write "
      "files. The library's rows are everything between a frame and the flow, on CPU and CUDA, with "
      "parameters; both methods share most of it. Memory, launching, reading and writing are shared with the "
      "other methods and not counted. The last rows are the thesis's kernels, as this study implements them.",
      {"implementation", "lines", "files"},
      {{"tensor, FPGA (thesis)", 6451, ""},
       {"tensor, GPU (thesis)", 1131, ""},
       {"ridge, FPGA (thesis)", 17118, ""},
       {"ridge, GPU (thesis)", 1973, ""}}};
  for (const Subject& subject : subjects) {
    int lines = 0, files = 0;
    const auto count = [&](const fs::path& file) { lines += lines_of(file), ++files; };
    for (const std::string& path : subject.paths)
      if (fs::is_directory(root / path))
        std::ranges::for_each(fs::directory_iterator(root / path), count);
      else
        count(root / path);
    table.add(subject.name, lines, files);
  }
  return {std::move(table)};
}

}  // namespace parafield::bench
