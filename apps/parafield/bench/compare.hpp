// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "report.hpp"

/// Comparison of measurements with those of an earlier `parafield bench`.
namespace parafield::command {

/// Times are more than the tolerance above earlier ones. The exit code is 3.
struct RegressionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Earlier measurements, and what the comparison with them has found so far.
class EarlierTimes {
 public:
  /// Reads a file that `bench --json FILE` has written. `tolerance`: percent. Throws Error(file) if it cannot
  /// be read, and Error(invalid_argument) if it is something else.
  EarlierTimes(const std::string& file, double tolerance);

  /// Adds the ratios of a row's times to the earlier ones of the same task, method, preset, planes, device
  /// and size. Returns them as text.
  std::string compare(Json& row);
  /// Adds what it was compared with.
  void describe(Json& report) const;
  /// Throws RegressionError if times have grown by more than the tolerance, and Error(invalid_argument) if
  /// the file had none of the rows.
  void check() const;

 private:
  const Json* earlier(const Json& row) const;

  std::string file_;
  double tolerance_;
  Json report_;
  int compared_ = 0;
  std::vector<std::string> longer_;  // of the rows
};

}  // namespace parafield::command
