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

/// Whether two values have the same bits. Padding does not count, and its bits are arbitrary.
template <class T>
bool same_bits(T a, T b) {
  static_assert(std::is_trivially_copyable_v<T>);
  __builtin_clear_padding(&a);
  __builtin_clear_padding(&b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
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
