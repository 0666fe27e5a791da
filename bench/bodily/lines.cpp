// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "bodily/study.hpp"

namespace parafield::bench {
namespace {
namespace fs = std::filesystem;

/// Numbers of lines: all, and those that hold code.
struct Lines {
  int all = 0, code = 0;
  Lines& operator+=(const Lines& other) {
    all += other.all, code += other.code;
    return *this;
  }
};

/// Counts a file's lines. A line of code holds something that is neither blank nor comment; a `//` or `/*`
/// within a string counts as a comment.
Lines lines_of(const fs::path& path) {
  std::ifstream file(path);
  Lines lines;
  bool in_comment = false;
  for (std::string line; std::getline(file, line);) {
    ++lines.all;
    bool code = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view two = std::string_view(line).substr(i, 2);
      if (in_comment) {
        if (two == "*/") in_comment = false, ++i;
      } else if (two == "//") {
        break;
      } else if (two == "/*") {
        in_comment = true, ++i;
      } else if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
        code = true;
      }
    }
    lines.code += code;
  }
  return lines;
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
      "All lines, as `wc` and the thesis count them, and lines that hold code. The thesis's rows are whole "
      "programs that read and write files. The library's rows are everything between a frame and the flow, "
      "on "
      "CPU and CUDA, with parameters; both methods share most of it. Memory, launching, reading and writing "
      "are shared with the other methods and not counted. The last rows are the thesis's kernels, as this "
      "study implements them.",
      {"implementation", "lines", "with code", "files"},
      {{"tensor, FPGA (thesis)", 6451, "", ""},
       {"tensor, GPU (thesis)", 1131, "", ""},
       {"ridge, FPGA (thesis)", 17118, "", ""},
       {"ridge, GPU (thesis)", 1973, "", ""}}};
  table.published_rows = int(table.rows.size());
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
    Lines sum;
    for (const fs::path& file : files) sum += lines_of(file);
    table.rows.push_back({subject.name, sum.all, sum.code, int(files.size())});
  }
  if (!absent.empty()) table.note += " Missing, so not counted: " + absent + ".";
  return {std::move(table)};
}

}  // namespace parafield::bench
