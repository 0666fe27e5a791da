// SPDX-License-Identifier: MIT
#pragma once
#include "markov/levels/levels.hpp"

/// Layout of levels in host memory. A row of pixels is stored as two half rows for each label, the even and
/// the odd columns, so that pixels of one color are adjacent. In an unnamed namespace, because each
/// instruction set has its own copy.
namespace parafield {
namespace {

template <class Value>
constexpr int chunk = level_chunk_bytes / int(sizeof(Value));
/// At least as large as every value.
template <class Value>
constexpr Value farthest = sizeof(Value) == 2 ? Value(0xffff) : Value(3.4e38f);

/// Pointers to the half rows of a level.
template <class Value>
struct Rows {
  PropagationLevel<Value> level;
  int labels;
  std::ptrdiff_t pitch;  // values from one label to the next
  int kept;  // row y of edges is stored as row y & kept: -1, or a power of 2 minus 1 if fewer rows are kept

  Rows(const PropagationLevel<Value>& level, const PairUnits& units, int kept = -1)
      : level(level), labels(units.grid.count()), pitch(half_pitch<Value>(level.width)), kept(kept) {}

  /// Half row of label 0: columns of the given parity of row y.
  Value* data(int y, int parity) const { return row(level.data, y, parity); }
  /// Edges from column x - 1 to column x of row y, for x = 0 .. width.
  Value* across(int set, int y, int parity) const { return row(level.edges[set].across, y & kept, parity); }
  /// Edges from row y - 1 to row y, for y = 0 .. height.
  Value* down(int set, int y, int parity) const { return row(level.edges[set].down, y & kept, parity); }

 private:
  Value* row(Value* values, int y, int parity) const {
    return values + std::ptrdiff_t(2 * y + parity) * labels * pitch;
  }
};

/// Values of a chunk of pixels for each label; labels are `pitch` values apart.
template <class Value>
struct Labeled {
  Value* values = nullptr;
  std::ptrdiff_t pitch = 0;
  Value* operator[](int label) const { return values + label * pitch; }
};

}  // namespace
}  // namespace parafield
