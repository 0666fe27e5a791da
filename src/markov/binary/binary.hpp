// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"

/// All sweeps of ICM at once, for Energy::is_binary with 8 neighbors and all sites updated together. A site takes
/// label 1 where at least so many neighbors have it: a threshold, 0 to 9, that follows from its data costs. So the
/// sweeps compare counts: in bytes on the CPU; in bits on CUDA, 32 sites to a word.
namespace parafield {

constexpr int never = 9;  // the threshold that no count reaches

/// The threshold of a site: the least count of neighbors with label 1 that makes it 1, of `all` that it has.
PF_HD int threshold_of(float cost0, float cost1, int all, float pair) {
  // binary_label does not fall with the count. So halving finds it; written out, as loops here do not vectorize.
  const auto is_still = [=](int ones) { return binary_label(cost0, cost1, ones, all, pair) == 0; };
  int low = is_still(7) ? 8 : 0;
  low += low == 0 && is_still(3) ? 4 : 0;
  low += low < 8 && is_still(low + 1) ? 2 : 0;
  low += is_still(low) ? 1 : 0;
  return low;
}
PF_HD int neighbor_count(int x, int y, int width, int height) {
  const int columns = 1 + (x > 0) + (x < width - 1), rows = 1 + (y > 0) + (y < height - 1);
  return columns * rows - 1;
}

/// Room for the sweeps. On the CPU: two planes of labels and one of thresholds, as bytes, the labels with a border
/// of zeros. On CUDA: planes of words.
struct BinaryRoom {
  View<std::uint8_t> labels, other, thresholds;
  View<std::uint32_t>
      words;  // for each row of the image one of labels, one of new labels, four of thresholds

  explicit operator bool() const { return labels.data || words.data; }
};
constexpr int word_planes = 6;

template <class Backend>
BinaryRoom binary_room(Workspace& workspace, Size size) {
  BinaryRoom room;
  if constexpr (Backend::is_gpu) {
    room.words = workspace.image<std::uint32_t>({(size.width + 31) / 32, word_planes * size.height});
  } else {
    room.labels = workspace.image<std::uint8_t>({size.width + 2, size.height + 2});
    room.other = workspace.image<std::uint8_t>({size.width + 2, size.height + 2});
    room.thresholds = workspace.image<std::uint8_t>(size);
  }
  return room;
}

/// Runs `sweeps` sweeps from `labels` on, in place. The labels are those of as many calls of icm_sweep.
template <class Backend>
void binary_sweeps(Backend& backend, const Energy<StoredCosts>& energy, View<Label> labels,
                   const BinaryRoom& room, int sweeps);

}  // namespace parafield
