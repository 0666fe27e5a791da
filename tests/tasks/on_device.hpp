// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "parafield/parafield.hpp"
#include "same.hpp"

/// Shared by the tests of tasks: the device as a parameter, and messages of errors.
namespace parafield {

class OnDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "cuda" && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }
  Device device() const { return parse_device(GetParam(), 2); }
};

inline auto every_device() { return testing::Values("cpu", "cuda"); }
inline std::string device_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace parafield
