// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"

/// All sweeps of ICM for Energy::is_binary with 8 neighbors, if all sites are updated at once. A site takes
/// label 1 if the number of neighbors with label 1 reaches a threshold, 0 to 9, that follows from its data
/// costs. The sweeps therefore only compare counts: in bytes on the CPU, and in bits on CUDA, with 32 sites
/// in a word.
namespace parafield {

constexpr int never = 9;  // the threshold that no count reaches

/// Threshold of a site with `all` neighbors: the least number of neighbors with label 1 at which it takes
/// label 1.
PF_HD int threshold_of(float cost0, float cost1, int all, float pair) {
  // The label never decreases with the count, so bisection finds the threshold. The steps are written out,
  // because a loop would not vectorize, and use floats, because conversions are slow on CUDA.
  const float most = float(all);
  const auto is_still = [=](float ones) { return !(fma(most - ones, pair, cost1) < fma(ones, pair, cost0)); };
  float low = is_still(7) ? 8 : 0;
  low = ((low == 0) & is_still(3)) ? 4 : low;
  low = ((low < 8) & is_still(low + 1)) ? low + 2 : low;
  low = is_still(low) ? low + 1 : low;
  return int(low);
}
PF_HD int neighbor_count(int x, int y, int width, int height) {
  const int columns = 1 + (x > 0) + (x < width - 1), rows = 1 + (y > 0) + (y < height - 1);
  return columns * rows - 1;
}

constexpr int word_planes = 6;

/// Labels of all sites and the memory of the sweeps. On the CPU: two planes of labels, with a border of
/// zeros, and a plane of thresholds, all in bytes; and two lists of the rows that a sweep has changed, with a
/// border. On CUDA: planes of words, whose labels are 0 outside the image.
struct BinaryRoom {
  View<std::uint8_t> labels, other, thresholds, changed;
  View<std::uint32_t> words;  // for each row of the image, two rows of labels and four of thresholds

  explicit operator bool() const { return labels.data || words.data; }

  /// On CUDA: words of row y of a plane. Planes 0 and 1 hold labels, planes 2 to 5 the bits of thresholds.
  PF_HD std::uint32_t* word_row(int y, int plane) const { return words.row(y * word_planes + plane); }

  /// On the CPU: clears the border next to row y and returns the row's labels.
  std::uint8_t* begin_row(int y) const {
    const int width = thresholds.width, height = thresholds.height;
    for (const View<std::uint8_t>& plane : {labels, other}) {
      if (y == 0) __builtin_memset(plane.row(0), 0, std::size_t(width) + 2);
      if (y == height - 1) __builtin_memset(plane.row(height + 1), 0, std::size_t(width) + 2);
      plane.row(y + 1)[0] = plane.row(y + 1)[width + 1] = 0;
    }
    return labels.row(y + 1) + 1;
  }
};

/// Labels in a BinaryRoom: a plane with a border on the CPU, a plane of words on CUDA.
struct BinaryLabels {
  View<const std::uint8_t> bytes;
  View<const std::uint32_t> words;
  int plane = 0;

  /// On the CPU: labels of row y, which is -1 to height.
  const std::uint8_t* row(int y) const { return bytes.row(y + 1) + 1; }
  /// On CUDA: words of row y.
  PF_HD const std::uint32_t* word_row(int y) const { return words.row(y * word_planes + plane); }
};
/// Labels of a room before any sweep.
inline BinaryLabels first_labels(const BinaryRoom& room) { return {room.labels, room.words, 0}; }

template <class Backend>
BinaryRoom binary_room(Workspace& workspace, Size size) {
  BinaryRoom room;
  if constexpr (Backend::is_gpu) {
    room.words = workspace.image<std::uint32_t>({(size.width + 31) / 32, word_planes * size.height});
  } else {
    room.labels = workspace.image<std::uint8_t>({size.width + 2, size.height + 2});
    room.other = workspace.image<std::uint8_t>({size.width + 2, size.height + 2});
    room.thresholds = workspace.image<std::uint8_t>(size);
    room.changed = workspace.image<std::uint8_t>({size.height + 2, 2});
  }
  return room;
}

/// Stores the thresholds that follow from the data costs of an energy, and labels to start from.
template <class Backend>
void store_thresholds(Backend& backend, const Energy<StoredCosts>& energy, View<const Label> labels,
                      const BinaryRoom& room);

/// Stores labels only.
template <class Backend>
void store_labels(Backend& backend, View<const Label> labels, const BinaryRoom& room);

/// Runs `sweeps` sweeps with the thresholds of a room, starting from its labels, and returns the final
/// labels, which are the same as after as many calls of icm_sweep. Also stores them in `labels`, if that is
/// not empty.
template <class Backend>
BinaryLabels binary_sweeps(Backend& backend, const BinaryRoom& room, Size size, int sweeps,
                           View<Label> labels = {});

}  // namespace parafield
