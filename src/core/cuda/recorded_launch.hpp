// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstring>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/backend_interface.hpp"

/// The check of replays (the CMake option PARAFIELD_CHECK_REPLAYS): a replay must launch the kernels that
/// were recorded, with the same arguments.
namespace parafield {

/// Kernel and arguments of a launch.
struct RecordedLaunch {
  const void* kernel = nullptr;
  std::shared_ptr<const void> values;  ///< a tuple of grid, block, bytes of shared memory, and arguments
};

/// Whether two values have the same bits. Padding does not count, because its bits are arbitrary. It is cleared
/// through a union, because g++ clears wrong bytes after an array of structs otherwise.
template <class T>
bool same_bits(const T& a, const T& b) {
  static_assert(std::is_trivially_copyable_v<T>);
  union Cleared {
    T value;
  };
  Cleared first{a}, second{b};
  __builtin_clear_padding(&first);
  __builtin_clear_padding(&second);
  return std::memcmp(&first, &second, sizeof(T)) == 0;
}
/// A condition has its handle only while it is recorded.
inline bool same_bits(const Condition& a, const Condition& b) { return a.value == b.value; }

/// The index of the first value that differs; the number of values if none does.
template <class... Values>
std::size_t first_difference(const std::tuple<Values...>& a, const std::tuple<Values...>& b) {
  std::size_t index = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(((same_bits(std::get<I>(a), std::get<I>(b)) && (++index, true)) && ...));
  }
  (std::index_sequence_for<Values...>{});
  return index;
}

}  // namespace parafield
