// SPDX-License-Identifier: MIT
#pragma once
#include "markov/binary/binary.hpp"
#include "markov/launch.cuh"

namespace parafield {
namespace {

/// Label of a pixel of the image.
__device__ int label_at(const BinaryLabels& labels, int x, int y) {
  return int(labels.word_row(y)[x / 32] >> x % 32 & 1);
}

/// Labels of pixels x - 1 to x + 1 of a row, one bit each; 0 outside the image.
__device__ std::uint32_t three_labels(const BinaryLabels& labels, int x, int y, Size size) {
  if (y < 0 || y >= size.height) return 0;
  std::uint32_t three = 0;
  for (int i = 0; i < 3; ++i)
    if (x + i - 1 >= 0 && x + i - 1 < size.width) three |= std::uint32_t(label_at(labels, x + i - 1, y)) << i;
  return three;
}

}  // namespace
}  // namespace parafield
