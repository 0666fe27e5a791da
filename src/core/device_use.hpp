// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// An estimator's use of a device, beside that of the process's other estimators. Several threads may each
/// have their own.
class DeviceUse {
 public:
  explicit DeviceUse(int device);
  ~DeviceUse();
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

  /// Counts a solve. Returns whether at least `several` estimators, with this one, have had solves among the
  /// device's last `recent` ones that may not have ended yet.
  bool begin_solve();
  /// All solves of this estimator have ended.
  void end_solves();

  static constexpr int recent =
      64;  ///< so many that eight estimators count if each pushes eight frames in a row
  static constexpr int several = 3;

 private:
  struct Device;
  static Device& of(int index);

  Device& device_;
  static constexpr std::int64_t long_ago = -recent;
  std::int64_t last_ =
      long_ago;  // the number of the device's solve that was this one's last and may not have ended
};

}  // namespace parafield
