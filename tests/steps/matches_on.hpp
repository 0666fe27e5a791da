// SPDX-License-Identifier: MIT
#pragma once
// Matches of a pair of gray images on a target, and the descriptors behind them.
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "planes_on.hpp"
#include "steps/convert/convert.hpp"
#include "steps/matches/matcher.hpp"
#include "targets.hpp"
#include "textures.hpp"

namespace parafield {

struct FoundSeeds {
  SeedGrid grid;
  std::vector<float> u, v;
  std::vector<std::uint8_t> valid;

  int kept() const {
    int count = 0;
    for (const std::uint8_t each : valid) count += each != 0;
    return count;
  }
};

/// A pair of gray images in a backend's memory, and what matches them.
template <class Backend>
struct MatchedPair {
  Workspace workspace;
  Image<float> held[2];
  Pyramid pyramids[2];
  View<float> luma[2];
  FeatureMatcher<Backend> matcher;

  MatchedPair(Backend& backend, const Image<float>& frame0, const Image<float>& frame1,
              const FeatureMatching& matching)
      : workspace(backend.memory()),
        held{frame0.to(backend.memory()), frame1.to(backend.memory())},
        matcher(backend, workspace, matching, frame0.size(), 2),
        backend_(backend) {
    for (int i = 0; i < 2; ++i) {
      for (const Size level : FeatureMatcher<Backend>::level_sizes(matching, frame0.size()))
        pyramids[i].level[pyramids[i].levels++] = workspace.image<float>(level);
      luma[i] = pyramids[i].level[0];
    }
  }

  /// Makes the pyramids.
  void prepare() {
    const Frame frames[] = {frame_of(held[0]), frame_of(held[1])};
    convert(backend_, frames, luma, 2);
    build_pyramids(backend_, pyramids, 2);
  }

 private:
  Backend& backend_;
};

/// Runs the steps twice, on CUDA recorded and then replayed: there, or back.
inline FoundSeeds matches_on(const Target& target, const Image<float>& frame0, const Image<float>& frame1,
                             const FeatureMatching& matching, int threads = 2, bool back = false) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    MatchedPair<Backend> pair(backend, frame0, frame1, matching);
    for (int i = 0; i < 2; ++i)
      backend.replay({}, [&] {
        pair.prepare();
        pair.matcher.describe(pair.pyramids, 0, 2);
        pair.matcher.find(0, 1, pair.luma[0], pair.luma[1]);
        if (back) pair.matcher.find(1, 0, pair.luma[1], pair.luma[0]);
      });
    const Matches& matches = pair.matcher.matches();
    return FoundSeeds{matches.grid, values_of(backend, matches.u), values_of(backend, matches.v),
                      values_of(backend, matches.valid)};
  });
}

}  // namespace parafield
