// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/background.hpp"

/// How the CPU runs through rows. In an unnamed namespace, because each instruction set has its own copy.
namespace parafield {
namespace {

// Rows are processed in chunks. All but the last chunk of a row have this many pixels, because loops with a
// constant count are faster. Loops write to local arrays, so that they vectorize.
constexpr int background_chunk = 128;

/// Calls f<Count>(x0, some) for the chunks of a row. A chunk has `Count` pixels, or `some` if Count is 0.
template <class F>
void for_chunks(int width, F f) {
  for (int x0 = 0; x0 < width; x0 += background_chunk) {
    const int some = smaller(background_chunk, width - x0);
    with_constant<background_chunk>(some, [&]<int Count>() { f.template operator()<Count>(x0, some); });
  }
}

template <class T>
inline void store_chunk(T* to, const T* from, int count) {
  __builtin_memcpy(to, from, std::size_t(count) * sizeof(T));
}

/// Whether any byte of a chunk is at least `least`.
inline bool any_from(const std::uint8_t* bytes, int count, int least) {
  std::uint8_t any = 0;
  for (int i = 0; i < count; ++i) any |= bytes[i] >= least;
  return any != 0;
}

}  // namespace
}  // namespace parafield
