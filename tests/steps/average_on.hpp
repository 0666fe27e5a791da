// SPDX-License-Identifier: MIT
#pragma once
// Random frames, and their averages over time on a backend.
#include <random>
#include <vector>

#include "planes_on.hpp"
#include "steps/average/average.hpp"
#include "targets.hpp"

namespace parafield {

/// Two frames of three planes at several times. Changes do not come from the planes.
struct AverageCase {
  static constexpr int frames = 2, planes = 3, times = 12;
  static constexpr float noise = 2;
  using Values = std::vector<float>;
  Size size;
  Values plane[times][frames][planes], change[times][frames];

  AverageCase(Size s, unsigned seed) : size(s) {
    std::mt19937 random(seed);
    const auto draw = [&](float most) {
      Values values(std::size_t(size.width) * std::size_t(size.height));
      for (float& value : values) value = most * float(random() % 4096) / 4096;
      return values;
    };
    for (int time = 0; time < times; ++time)
      for (int i = 0; i < frames; ++i) {
        for (Values& values : plane[time][i]) values = draw(255);
        change[time][i] = draw(time == 6 ? 9 : 4.2f);
      }
  }
};

/// Averages of an AverageCase, and how far the last plane 0 of frame 0 differs from its mean.
struct Averages {
  std::vector<float> count[AverageCase::frames], mean[AverageCase::frames][AverageCase::planes], change;

  bool operator==(const Averages&) const = default;
};

template <class Backend>
Averages averages_with(Backend& backend, const AverageCase& c) {
  constexpr int frames = AverageCase::frames, planes = AverageCase::planes;
  Workspace workspace(backend.memory());
  AveragedPlanes averaged[frames];
  View<float> fresh[frames][planes], changes[frames], counts[frames];
  for (int i = 0; i < frames; ++i) {
    changes[i] = workspace.image<float>(c.size);
    counts[i] = averaged[i].count = workspace.image<float>(c.size);
    for (int j = 0; j < planes; ++j) {
      fresh[i][j] = workspace.image<float>(c.size);
      averaged[i].add(fresh[i][j], stored(backend, workspace, c.size, c.plane[0][i][j]));
    }
  }
  backend.replay({}, [&] { begin_average(backend, counts, frames); });
  for (int time = 1; time < AverageCase::times; ++time) {
    for (int i = 0; i < frames; ++i) {
      for (int j = 0; j < planes; ++j) store(backend, fresh[i][j], c.plane[time][i][j]);
      store(backend, changes[i], c.change[time][i]);
    }
    backend.replay({.slot = 1}, [&] { average(backend, averaged, changes, AverageCase::noise, frames); });
  }
  Averages result;
  for (int i = 0; i < frames; ++i) {
    result.count[i] = values_of(backend, counts[i]);
    for (int j = 0; j < planes; ++j) result.mean[i][j] = values_of(backend, averaged[i].mean[j]);
  }
  backend.replay({.slot = 2}, [&] { find_changes(backend, averaged, changes, frames); });
  result.change = values_of(backend, changes[0]);
  return result;
}

inline Averages averages_on(const Target& target, const AverageCase& c, int threads) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    return averages_with(backend, c);
  });
}

}  // namespace parafield
