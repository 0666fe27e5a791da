// SPDX-License-Identifier: MIT
#include "core/device_use.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace parafield {

struct DeviceUse::Device {
  std::mutex mutex;
  std::int64_t solves = 0;
  std::vector<const DeviceUse*> uses;
};

// Never destroyed: estimators may be destroyed at exit.
DeviceUse::Device& DeviceUse::of(int index) {
  static auto& mutex = *new std::mutex;
  static auto& devices = *new std::map<int, Device>;
  const std::lock_guard lock(mutex);
  return devices[index];
}

DeviceUse::DeviceUse(int device) : device_(of(device)) {
  const std::lock_guard lock(device_.mutex);
  device_.uses.push_back(this);
}

DeviceUse::~DeviceUse() {
  const std::lock_guard lock(device_.mutex);
  std::erase(device_.uses, this);
}

void DeviceUse::end_solves() {
  const std::lock_guard lock(device_.mutex);
  last_ = long_ago;
}

bool DeviceUse::begin_solve() {
  const std::lock_guard lock(device_.mutex);
  last_ = ++device_.solves;
  const std::int64_t before = device_.solves - recent;
  return std::ranges::count_if(device_.uses, [=](const DeviceUse* use) { return use->last_ > before; }) >=
         several;
}

}  // namespace parafield
