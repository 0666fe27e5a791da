// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// An estimator's use of a device that it may share with other estimators of the process. Different threads
/// may use different objects of one device.
class DeviceUse {
 public:
  explicit DeviceUse(int device);
  ~DeviceUse();
  DeviceUse(const DeviceUse&) = delete;
  DeviceUse& operator=(const DeviceUse&) = delete;

  /// Counts a solve. Returns whether the device's last `recent` solves include solves of at least `several`
  /// estimators, including this one, that may still be running.
  bool begin_solve();
  /// Declares that all solves of this estimator have ended.
  void end_solves();

  static constexpr int recent =
      64;  ///< enough to count eight estimators that each push eight frames in a row
  static constexpr int several = 3;

 private:
  struct Device;
  static Device& of(int index);

  Device& device_;
  static constexpr std::int64_t long_ago = -recent;
  std::int64_t last_ =
      long_ago;  // number, among the device's solves, of this one's last that may still run
};

}  // namespace parafield
