// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/speckle/speckle.hpp"

namespace parafield {
namespace {

constexpr int band_height = 64;  // rows that one thread labels; bands are joined afterwards

struct Forest {
  int* labels;
  int* counts;  // at a root: number of pixels of its component
  int pitch;    // indices from one row to the next

  /// Joins the components of pixels i and j, and shortens the paths to their roots.
  void join(int i, int j) const {
    while (labels[i] != i) i = labels[i] = labels[labels[i]];
    while (labels[j] != j) j = labels[j] = labels[labels[j]];
    labels[larger(i, j)] = smaller(i, j);
  }
  /// Joins two components that are already counted.
  void join_counted(int i, int j) const {
    i = root_of(labels, i);
    j = root_of(labels, j);
    if (i == j) return;
    counts[smaller(i, j)] += counts[larger(i, j)];
    labels[larger(i, j)] = smaller(i, j);
  }
};

/// Labels the runs of linked pixels along a row, and joins them with the runs above.
void label_row(Forest forest, Links linked, int y, bool first) {
  const int width = linked.valid.width;
  int* label = forest.labels + y * forest.pitch;
  bool above = false;  // whether the pixel to the left is linked with the pixel above it
  for (int x = 0; x < width; ++x) {
    const bool left = x > 0 && linked(x - 1, y, x, y);
    label[x] = left ? label[x - 1] : y * forest.pitch + x;
    if (first) continue;
    const bool left_above = above && left && linked(x - 1, y - 1, x, y - 1);  // already joined
    above = linked(x, y - 1, x, y);
    if (above && !left_above) forest.join(label[x], label[x - forest.pitch]);
  }
}

/// Sets each pixel's label to its root, and counts the pixels of each root.
void count_row(Forest forest, int y, int width) {
  int* label = forest.labels + y * forest.pitch;
  int* count = forest.counts + y * forest.pitch;
  for (int x = 0; x < width; ++x) count[x] = 0;
  int root = -1, pixels = 0;
  for (int x = 0; x < width; ++x) {
    label[x] = forest.labels[label[x]];  // this index is smaller, so its label is already its root
    if (label[x] != root) {
      if (root >= 0) forest.counts[root] += pixels;
      root = label[x];
      pixels = 0;
    }
    ++pixels;
  }
  forest.counts[root] += pixels;
}

void clear_row(Forest forest, int y, int max_pixels, View<std::uint8_t> valid) {
  const int* label = forest.labels + y * forest.pitch;
  std::uint8_t* out = valid.row(y);
  int last = -1;
  bool is_speckle = false;
  for (int x = 0; x < valid.width; ++x) {
    if (label[x] != last) {
      last = label[x];
      is_speckle = forest.counts[root_of(forest.labels, last)] <= max_pixels;
    }
    if (is_speckle) out[x] = 0;
  }
}

}  // namespace

template <class Backend>
void remove_speckles(Backend& cpu, const View<float>* planes, int count, float max_difference, int max_pixels,
                     View<std::uint8_t> valid, View<std::int32_t> labels, View<std::int32_t> counts) {
  const Links linked{planes[0], planes[count - 1], max_difference, valid};
  const Forest forest{labels.data, counts.data, int(labels.stride())};
  const int width = valid.width, height = valid.height;
  cpu.rows((height + band_height - 1) / band_height, [=](int band) {
    const int y0 = band * band_height, y1 = smaller(y0 + band_height, height);
    for (int y = y0; y < y1; ++y) label_row(forest, linked, y, y == y0);
    for (int y = y0; y < y1; ++y) count_row(forest, y, width);
  });
  for (int y = band_height; y < height; y += band_height)
    for (int x = 0; x < width; ++x)
      if (linked(x, y - 1, x, y))
        forest.join_counted(forest.labels[y * forest.pitch + x], forest.labels[(y - 1) * forest.pitch + x]);
  cpu.rows(height, [=](int y) { clear_row(forest, y, max_pixels, valid); });
}

PF_STEP(remove_speckles<Cpu>);

}  // namespace parafield
