#pragma once
#include "markov/levels/levels.hpp"

/// How levels lie in host memory: pixels of even and odd columns apart, so that those of a color of the checkerboard are
/// neighbors; for each row, for each of the two, for each label, a row of half the pixels. For the CPU's loops along a
/// row (each instruction set has its own copy).
namespace parafield {
namespace {

template <class Value>
constexpr int chunk = level_chunk_bytes / int(sizeof(Value));
template <class Value>
constexpr int alignment = 64 / int(sizeof(Value));

/// More than any value.
template <class Value>
constexpr Value farthest = sizeof(Value) == 2 ? Value(0xffff) : Value(3.4e38f);

/// Values from one label's half row to the next. The last chunk may reach over the last column.
template <class Value>
int half_pitch(int width) {
  return ((width + 2) / 2 + chunk<Value> - 1) / chunk<Value> * chunk<Value> + alignment<Value>;
}

/// Where a level's rows lie.
template <class Value>
struct Rows {
  PropagationLevel<Value> level;
  int labels;
  std::ptrdiff_t pitch;

  Rows(const PropagationLevel<Value>& level, LabelGrid grid)
      : level(level), labels(grid.count()), pitch(half_pitch<Value>(level.width)) {}

  /// Row y of the columns of a parity, of label 0; the next label is `pitch` away.
  Value* row(Value* values, int y, int parity) const {
    return values + std::ptrdiff_t(2 * y + parity) * labels * pitch;
  }
  Value* data(int y, int parity) const { return row(level.data, y, parity); }
  /// The edge from column x - 1 to column x of row y; of column 0 and of `width` too.
  Value* across(int set, int y, int parity) const { return row(level.edges[set].across, y, parity); }
  /// The edge from row y - 1 to row y.
  Value* down(int set, int y, int parity) const { return row(level.edges[set].down, y, parity); }
};

/// A chunk's values of each label, some distance apart.
template <class Value>
struct Labeled {
  Value* values = nullptr;
  std::ptrdiff_t pitch = 0;
  Value* operator[](int label) const { return values + label * pitch; }
};

}  // namespace
}  // namespace parafield
