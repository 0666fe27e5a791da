// SPDX-License-Identifier: MIT
#pragma once
// Matches of a pair of gray images on a target, and the descriptors behind them.
#include <optional>
#include <vector>

#include "core/backend.hpp"
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

/// Runs the steps twice, on CUDA recorded and then replayed: there, or back.
inline FoundSeeds matches_on(const Target& target, const Image<float>& frame0, const Image<float>& frame1,
                             const FeatureMatching& matching, int threads = 2, bool back = false) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    const Image<float> held[] = {frame0.to(backend.memory()), frame1.to(backend.memory())};
    const Frame frames[] = {frame_of(held[0]), frame_of(held[1])};
    Workspace workspace(backend.memory());
    Pyramid pyramids[2];
    View<float> luma[2];
    for (int i = 0; i < 2; ++i) {
      for (const Size level : FeatureMatcher<Backend>::level_sizes(matching, frame0.size()))
        pyramids[i].level[pyramids[i].levels++] = workspace.image<float>(level);
      luma[i] = pyramids[i].level[0];
    }
    FeatureMatcher<Backend> matcher(backend, workspace, matching, frame0.size(), 2);
    for (int i = 0; i < 2; ++i)
      backend.replay(0, [&] {
        convert(backend, frames, luma, 2);
        build_pyramids(backend, pyramids, 2);
        matcher.describe(pyramids, 0, 2);
        matcher.find(0, 1, luma[0], luma[1]);
        if (back) matcher.find(1, 0, luma[1], luma[0]);
      });
    const Matches& matches = matcher.matches();
    const auto values = [&]<class T>(View<T> plane) {
      std::vector<T> all(std::size_t(plane.width) * std::size_t(plane.height));
      for (int y = 0; y < plane.height; ++y)
        copy_to_host(backend, all.data() + std::ptrdiff_t(y) * plane.width, plane.row(y),
                     sizeof(T) * std::size_t(plane.width));
      return all;
    };
    return FoundSeeds{matches.grid, values(matches.u), values(matches.v), values(matches.valid)};
  });
}

}  // namespace parafield
