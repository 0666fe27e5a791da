// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <iterator>

#include "common/study.hpp"

namespace parafield::bench {
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
    return std::vector<std::string>{"bench/bodily/" + name + ".hpp", "bench/bodily/" + name + ".cu",
                                    "bench/common/launch.cuh"};
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
  std::string absent;
  for (const Subject& subject : subjects) {
    std::vector<fs::path> files;
    for (const std::string& path : subject.paths) {
      if (fs::is_directory(root / path)) {
        for (const auto& entry : fs::directory_iterator(root / path)) files.push_back(entry.path());
      } else if (fs::exists(root / path)) {
        files.push_back(root / path);
      } else {
        absent += (absent.empty() ? "" : ", ") + path;
      }
    }
    if (files.empty()) continue;
    int lines = 0;
    for (const fs::path& file : files) lines += lines_of(file);
    table.add(subject.name, lines, int(files.size()));
  }
  if (!absent.empty()) table.note += " Missing, so not counted: " + absent + ".";
  return {std::move(table)};
}

}  // namespace parafield::bench
