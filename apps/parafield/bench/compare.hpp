// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "report.hpp"

/// Comparison of measurements with the results of an earlier `parafield bench`.
namespace parafield::command {

/// Thrown if times exceed the earlier ones by more than the tolerance. The exit code is 3.
struct RegressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Earlier measurements, and the result of the comparison so far.
class EarlierTimes {
 public:
  /// Reads a file written by `bench --json FILE`. `tolerance` is in percent. Throws Error(file) if the file
  /// cannot be read, and Error(invalid_argument) if it is not such a report.
  EarlierTimes(const std::string& file, double tolerance);

  /// Adds the ratio of each of the row's times to the earlier time for the same task, method, preset, planes,
  /// device and size. Returns the ratios as text.
  std::string compare(Json& row);
  /// Adds the earlier file, its commit and the tolerance to the report.
  void describe(Json& report) const;
  /// Throws RegressionError if times have grown by more than the tolerance, and Error(invalid_argument) if
  /// the earlier file had none of the rows.
  void check() const;

 private:
  const Json* earlier(const Json& row) const;

  std::string file_;
  double tolerance_;
  Json report_;
  int compared_ = 0;
  std::vector<std::string> longer_;  // descriptions of times that have grown too much
};

}  // namespace parafield::command
