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

  /// Counts a solve. Returns whether the device's last `recent` solves, with this one, are those of at least
  /// `several` estimators.
  bool begin_solve();

  static constexpr int recent = 64;  ///< eight estimators that push eight frames each before they wait
  static constexpr int several = 3;

 private:
  struct Device;
  static Device& of(int index);

  Device& device_;
  std::int64_t last_ = -recent;  // the number of the device's solve that was this one's last
};

}  // namespace parafield
