// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <sstream>

#include "parafield/error.hpp"

namespace parafield {

/// The parts, concatenated.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

/// Throws Error(code) with the concatenated parts as its message.
template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

/// Throws Error(cancelled) if the flag is true.
inline void fail_if_cancelled(const std::atomic<bool>& flag) {
  if (flag.load(std::memory_order_relaxed)) fail(ErrorCode::cancelled, "the call was cancelled");
}

}  // namespace parafield
