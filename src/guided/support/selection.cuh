// SPDX-License-Identifier: MIT
#pragma once
#include "guided/support/record.cuh"
#include "guided/support/tile.cuh"

/// Selects the features that may support a tile on CUDA, by their least exponents.
namespace parafield {

/// Up to this many features are listed without checking the boxes of their chunks.
constexpr int max_listed = 512;

/// All features, in whole chunks. Their boxes are needed only if there are more than max_listed features.
struct FeatureRecords {
  const Record* record;
  int count;
  const FlowFeatures* boxes;

  __device__ PlaceBox box(int chunk) const { return chunk_box(*boxes, chunk); }
};

/// Number of features that support a tile. If they did not fit into a list, all features count as support.
struct Support {
  int count;
  bool all = false;
};

/// The features that support a tile, in order.
template <int Most>
struct SupportList {
  unsigned short feature[Most];

  __device__ int operator()(const Support& support, int i) const { return support.all ? i : feature[i]; }
};

/// Least exponents of listed features for a tile, in shared memory.
template <int Most>
struct ExponentMemory {
  float least[Most];
  unsigned short feature[Most];
};

/// A lane's view of the least exponents in shared memory. Up to Most features are all listed, by index; of
/// more features, only those near the tile. If these do not fit, all features count as selected, which
/// changes no bit.
template <int Most>
struct ExponentList {
  int lane;
  ExponentMemory<Most>& memory;
  int count = 0;
  bool all = true, fits = true;
};

/// Least exponents of at most Most features, in registers. Each lane has one feature of each chunk.
template <int Most>
struct RegisterList {
  static constexpr int chunks = Most / chunk_size, at_once = 4;

  int lane;
  int count;  // number of features
  float least[chunks];
};

/// Number of lanes before this one whose bit is set.
__device__ inline int rank(unsigned bits, int lane) { return __popc(bits & ((1u << lane) - 1)); }

/// The nearest feature that a lane has seen.
struct Nearest {
  float least = no_feature;
  int feature = -1;
};

/// Returns a feature's least exponent, and updates the nearest feature.
__device__ inline float least_of(const FeatureRecords& features, int i, const PlaceBox& box,
                                 Nearest& nearest) {
  const float least = least_exponent(box, features.record[i].place());
  nearest = least < nearest.least ? Nearest{least, i} : nearest;
  return least;
}

/// Lists the features with least exponents up to `most`, skipping chunks above it.
template <int Most>
__device__ Nearest list_features(ExponentList<Most>& list, const PlaceBox& box,
                                 const FeatureRecords& features, float most) {
  const int count = features.count, chunks = (count + chunk_size - 1) / chunk_size, lane = list.lane;
  ExponentMemory<Most>& memory = list.memory;
  Nearest nearest;
  __syncwarp();
  list.all = count <= Most;
  if (list.all) {
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int i = chunk * chunk_size + lane;
      memory.least[i] = least_of(features, i, box, nearest);
    }
    list.count = count;
  } else {
    list.count = 0;
    for (int first = 0; first < chunks; first += lanes) {
      const int chunk = smaller(first + lane, chunks - 1);
      unsigned near =
          __ballot_sync(~0u, first + lane < chunks && least_exponent(box, features.box(chunk)) <= most);
      for (; near; near &= near - 1) {
        const int i = (first + __ffs(int(near)) - 1) * chunk_size + lane;
        const float least = least_of(features, i, box, nearest);
        const bool in = least <= most;
        const unsigned bits = __ballot_sync(~0u, in);
        const int at = list.count + rank(bits, lane);
        if (in && at < Most) {
          memory.least[at] = least;
          memory.feature[at] = static_cast<unsigned short>(i);
        }
        list.count += __popc(bits);
      }
    }
    list.fits = list.count <= Most;
  }
  __syncwarp();
  return nearest;
}
template <int Most>
__device__ Nearest list_features(RegisterList<Most>& list, const PlaceBox& box,
                                 const FeatureRecords& features, float) {
  list.count = features.count;
  const int last = (features.count - 1) / chunk_size;
  Nearest nearest;
  PF_UNROLL
  for (int first = 0; first < list.chunks; first += list.at_once) {
    if (first > last) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + list.at_once; ++chunk)
      list.least[chunk] = least_of(features, smaller(chunk, last) * chunk_size + list.lane, box, nearest);
  }
  return nearest;
}

/// Selects, in order, the places below `count` for which is_in(place) is true, and writes their features,
/// feature_at(place). Returns their number.
template <int Most, class IsIn, class FeatureAt>
__device__ int select(int lane, int count, SupportList<Most>& selected, IsIn is_in, FeatureAt feature_at) {
  __syncwarp();  // the previous selection must have been read
  int found = 0;
#pragma unroll 2
  for (int first = 0; first < count; first += lanes) {
    const int at = first + lane;
    const bool in = at < count && is_in(at);
    const unsigned bits = __ballot_sync(~0u, in);
    if (in) selected.feature[found + rank(bits, lane)] = static_cast<unsigned short>(feature_at(at));
    found += __popc(bits);
  }
  __syncwarp();
  return found;
}

/// Selects the features with least exponents up to `most`.
template <int Most>
__device__ Support select(const ExponentList<Most>& list, const FeatureRecords& features, float most,
                          SupportList<Most>& selected) {
  if (!list.fits) return {features.count, true};
  const ExponentMemory<Most>& memory = list.memory;
  return {select(
      list.lane, list.count, selected, [&](int at) { return memory.least[at] <= most; },
      [&](int at) { return list.all ? at : memory.feature[at]; })};
}
template <int Most>
__device__ Support select(const RegisterList<Most>& list, const FeatureRecords&, float most,
                          SupportList<Most>& selected) {
  int found = 0;
  __syncwarp();
  PF_UNROLL
  for (int first = 0; first < list.chunks; first += list.at_once) {
    if (first * chunk_size >= list.count) break;
    PF_UNROLL
    for (int chunk = first; chunk < first + list.at_once; ++chunk) {
      const int i = chunk * chunk_size + list.lane;
      const bool in = (i < list.count) & (list.least[chunk] <= most);
      const unsigned bits = __ballot_sync(~0u, in);
      if (in) selected.feature[found + rank(bits, list.lane)] = static_cast<unsigned short>(i);
      found += __popc(bits);
    }
  }
  __syncwarp();
  return {found};
}

}  // namespace parafield
