// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/repetition/repetition.hpp"

namespace parafield {
namespace {

constexpr int repetition_chunk = 64;  // blocks whose searches are kept together

/// Searches of a chunk of blocks in one direction.
struct ChunkSearch {
  float last[repetition_chunk], most[repetition_chunk], most_before[repetition_chunk];
  int period[repetition_chunk];
  int sum[repetition_chunk], columns[repetition_chunk];  // of the window at the next shift

  explicit ChunkSearch(int count) {
    for (int i = 0; i < count; ++i) last[i] = most[i] = most_before[i] = 0, period[i] = 0;
  }
  void add(int shift, int rows, int count) {
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const float mean = period_mean(sum[i], rows, columns[i]);
      const bool ends = (period[i] == 0) & ends_period(shift, mean, last[i], most_before[i]);
      period[i] = ends ? shift - 1 : period[i];
      most_before[i] = most[i], most[i] = larger(most[i], mean), last[i] = mean;
    }
  }
};

/// Finds the periods of a row of blocks.
void find_periods_of_row(View<const std::uint32_t> left, int disparities, const RepeatedBlocks& blocks, int j,
                         void* scratch) {
  const int width = left.width, height = left.height, all = blocks.before.width;
  const int y = block_center(j, height);
  // Differences of columns, and the sums of the windows that begin at each column.
  std::uint16_t* const columns = static_cast<std::uint16_t*>(scratch);
  std::uint16_t* const windows = columns + repetition_columns(width);
  std::uint8_t* const gray = reinterpret_cast<std::uint8_t*>(windows + repetition_columns(width));
  int rows = 0;
  for (int dy = -period_radius; dy <= period_radius; dy += 2) {
    if (y + dy < 0 || y + dy >= height) continue;
    const std::uint32_t* const colors = left.row(y + dy);
    std::uint8_t* const row = gray + rows++ * width;
    for (int x = 0; x < width; ++x) row[x] = std::uint8_t(gray_value(colors[x]));
  }
  for (int i0 = 0; i0 < all; i0 += repetition_chunk) {
    const int n = smaller(repetition_chunk, all - i0);
    ChunkSearch before(n), after(n);
    for (int shift = 1; shift <= smaller(disparities, width); ++shift) {
      // Columns that the windows of the chunk reach, in both directions. Those outside the image count 0.
      constexpr int side = 2 * period_radius + 1;
      const int first = block_center(i0, width) - period_radius - shift;
      const int count = block_center(i0 + n - 1, width) + period_radius + 1 - first;
      const int begin = clamp(-first, 0, count), end = clamp(width - shift - first, begin, count);
      for (int k = 0; k < count + side; ++k) columns[k] = 0;
      for (int row = 0; row < rows; ++row) {
        const std::uint8_t *const a = gray + row * width + first, *const b = a + shift;
#pragma GCC ivdep
        for (int k = begin; k < end; ++k)
          columns[k] = std::uint16_t(columns[k] + (larger(a[k], b[k]) - smaller(a[k], b[k])));
      }
      // The sum of a window fits in 16 bits: 17 columns of 9 differences.
      const auto add = [=](const std::uint16_t* from, int distance) {
        const std::uint16_t* const other = from + distance;
#pragma GCC ivdep
        for (int k = 0; k < count + side - distance; ++k) windows[k] = std::uint16_t(windows[k] + other[k]);
      };
      for (int k = 0; k < count + side; ++k) windows[k] = columns[k];
      add(columns, 1), add(windows, 2), add(windows, 4), add(windows, 8), add(columns, side - 1);
      const auto find_window = [&](ChunkSearch& search, int i, int from) {
        search.columns[i] = smaller(from + side, width - shift) - larger(from, 0);
        search.sum[i] = windows[from - first];
      };
      for (int i = 0; i < n; ++i) {
        const int from = block_center(i0 + i, width) - period_radius;
        find_window(after, i, from);
        find_window(before, i, from - shift);
      }
      after.add(shift, rows, n);
      before.add(shift, rows, n);
    }
    for (int i = 0; i < n; ++i) {
      blocks.before(i0 + i, j) = before.period[i];
      blocks.after(i0 + i, j) = after.period[i];
    }
  }
}

/// Whether the disparities around pixel (x, y) match nearly as well if `shift` is added.
bool is_repeated(const RepetitionInput& input, int x, int y, int shift) {
  CostPair pair;
  for (int dy = -pair_radius_y; dy <= pair_radius_y; dy += 2) {
    if (y + dy < 0 || y + dy >= input.d.height) continue;
    const std::uint32_t* const right = input.right_colors.row(y + dy);
    for (int at = larger(x - pair_radius_x, 0); at <= smaller(x + pair_radius_x, input.d.width - 1); ++at)
      pair.add(MatchedPixel::make(input, right, at, y + dy), right, input.d.width, shift);
  }
  return pair.is_tie();
}

/// Whether block (i, j) is withheld.
bool is_withheld(View<const std::uint8_t> repeated, int i, int j) {
  if (repeated(i, j)) return true;
  int count = 0;
  for (int y = larger(j - repeated_around, 0); y <= smaller(j + repeated_around, repeated.height - 1); ++y)
    for (int x = larger(i - repeated_around, 0); x <= smaller(i + repeated_around, repeated.width - 1); ++x)
      count += repeated(x, y) != 0;
  return count >= least_repeated;
}

}  // namespace

template <class Backend>
void find_periods(Backend& cpu, View<const std::uint32_t> left_colors, int disparities,
                  const RepeatedBlocks& blocks) {
  const RepeatedBlocks to = blocks;
  cpu.few_rows(to.before.height, 1, [=](RowRange range, void* scratch) {
    for (int j = range.begin; j < range.end; ++j)
      find_periods_of_row(left_colors, disparities, to, j, scratch);
  });
}

template <class Backend>
void find_repetition(Backend& cpu, const RepetitionInput& input, const RepeatedBlocks& blocks) {
  const RepetitionInput from = input;
  const RepeatedBlocks to = blocks;
  cpu.few_rows(to.repeated.height, 1, [=](RowRange range, void*) {
    for (int j = range.begin; j < range.end; ++j) {
      const int y = block_center(j, from.d.height);
      for (int i = 0; i < to.repeated.width; ++i) {
        const int x = block_center(i, from.d.width);
        bool repeated = false;
        for (int k = 0; k < repeated_candidates && !repeated; ++k) {
          const int shift = repeated_shift(k, to.before(i, j), to.after(i, j));
          repeated = is_in_range(from, x, y, shift) && is_repeated(from, x, y, shift);
        }
        to.repeated(i, j) = repeated;
      }
    }
  });
}

template <class Backend>
void withhold_repeated(Backend& cpu, View<const std::uint8_t> repeated, float least, View<std::uint8_t> valid,
                       View<float> confidence) {
  cpu.rows(repeated.height, [=](int j) {
    const int begin = j * repeated_block, end = smaller(begin + repeated_block, valid.height);
    const int width = valid.width;
    const float limit = least;
    for (int i = 0; i < repeated.width; ++i) {
      if (!is_withheld(repeated, i, j)) continue;
      for (int y = begin; y < end; ++y)
        for (int x = i * repeated_block; x < smaller((i + 1) * repeated_block, width); ++x)
          valid(x, y) = 0, confidence(x, y) = 0;
    }
    for (int y = begin; y < end && limit > 0; ++y) {
      const float* const certainty = confidence.row(y);
      std::uint8_t* const kept = valid.row(y);
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) kept[x] = std::uint8_t(kept[x] & std::uint8_t(certainty[x] >= limit));
    }
  });
}

PF_STEP(find_periods<Cpu>);
PF_STEP(find_repetition<Cpu>);
PF_STEP(withhold_repeated<Cpu>);

}  // namespace parafield
