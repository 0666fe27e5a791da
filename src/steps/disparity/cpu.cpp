// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/disparity/disparity.hpp"

namespace parafield {
namespace {

/// Counts, around each of `count` pixels of row y from x0 on, the pixels of the 5x5 window with a similar
/// disparity.
void count_similar(View<const float> d, int y, int x0, int count, int* similar) {
  const float* rows[5];
  for (int j = 0; j < 5; ++j) rows[j] = d.row(clamp(y + j - 2, 0, d.height - 1));
  const float* const own = rows[2] + x0;
  for (int i = 0; i < count; ++i) similar[i] = 0;
  const int begin = clamp(2 - x0, 0, count), end = clamp(d.width - 2 - x0, begin, count);
  for (const float* row : rows) {
    const auto is_similar = [&](int i, int x) { return magnitude(row[x] - own[i]) <= 1 ? 1 : 0; };
    const auto count_near_border = [&](int i) {
      for (int dx = -2; dx <= 2; ++dx) similar[i] += is_similar(i, clamp(x0 + i + dx, 0, d.width - 1));
    };
    for (int i = 0; i < begin; ++i) count_near_border(i);
    for (int i = begin; i < end; ++i) {
      const int x = x0 + i;
      similar[i] += is_similar(i, x - 2) + is_similar(i, x - 1) + is_similar(i, x) + is_similar(i, x + 1) +
                    is_similar(i, x + 2);
    }
    for (int i = end; i < count; ++i) count_near_border(i);
  }
}

}  // namespace

template <class Backend>
void take_fine(Backend& cpu, View<const float> whole, View<const float> fine, View<const std::uint8_t> valid,
               View<float> out) {
  cpu.rows(out.height, [=](int y) {
    const float *const d = whole.row(y), *const refined = fine.row(y);
    const std::uint8_t* const kept = valid.row(y);
    float* const to = out.row(y);
    for (int x = 0; x < out.width; ++x) to[x] = fine_or_whole(d[x], refined[x], kept[x] != 0);
  });
}

template <class Backend>
void disparity_confidence(Backend& cpu, const DisparityEvidence& evidence, View<float> confidence) {
  cpu.rows(confidence.height, [=](int y) {
    constexpr int chunk = 256;
    int similar[chunk];
    const int width = confidence.width;
    const float* const d = evidence.left.row(y);
    const float *const right = evidence.right ? evidence.right.row(y) : nullptr,
                       *const margins = evidence.right_margin ? evidence.right_margin.row(y) : nullptr;
    float* const to = confidence.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      count_similar(evidence.left, y, x0, count, similar);
      for (int i = 0; i < count; ++i)
        to[x0 + i] = confidence_of(to[x0 + i], d[x0 + i], right, margins, width, x0 + i, similar[i]);
    }
  });
}

PF_STEP(take_fine<Cpu>);
PF_STEP(disparity_confidence<Cpu>);

}  // namespace parafield
