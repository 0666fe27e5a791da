// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "report.hpp"

/// Measurements as JSON, as lines of a table and as Markdown.
namespace parafield::command {

/// A device, with its properties that `parafield bench` measures or needs.
struct BenchDevice {
  DeviceInfo info;
  double copy_bandwidth = 0;  ///< bytes per second
  EnergyMeter meter;
};

Json device_json(const BenchDevice& device);
/// "cpu: AMD EPYC, v4, 2 threads; copies 20 GB/s; energy not measured: why".
std::string device_text(const BenchDevice& device);

/// Optional columns.
struct BenchExtras {
  bool energy = false, compares = false;
  int streams = 0;
};

/// The measurements of one task.
class BenchTable {
 public:
  /// `scene` and `data` are names of sequences; `data` may be empty.
  BenchTable(std::string_view task, std::string_view scene, std::string_view data, const BenchExtras& extras);

  std::string head() const;  ///< notes and column names
  /// Adds a row: a cell for each column, or fewer cells followed by the text `rest`. Returns the row as a
  /// line.
  std::string add(std::vector<std::string> cells, std::string rest = {});
  std::string markdown() const;

 private:
  struct Column {
    std::string name;
    int width;
  };

  std::string line(const std::vector<std::string>& cells) const;

  std::string task_;
  std::vector<std::string> notes_;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the task, method, device and size of a row as JSON.
template <class Task>
Json case_json(const Case<Task>& one);
/// Returns the same as the first cells of a row.
template <class Task>
std::vector<std::string> case_cells(const Case<Task>& one);

/// Adds the measurements of a case to its JSON and its cells.
template <class Task>
void add_measured(Json& row, std::vector<std::string>& cells, const Case<Task>& one,
                  const Measurement& measured, const BenchDevice& device, const BenchSequence<Task>& scene,
                  const BenchSequence<Task>* data, const BenchExtras& extras);

}  // namespace parafield::command
