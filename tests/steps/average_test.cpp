// SPDX-License-Identifier: MIT
// Averages of frames over time.
#include "steps/average/average.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "planes_on.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

constexpr Size sizes[] = {{1, 1}, {5, 3}, {67, 9}, {130, 20}};
using Values = std::vector<float>;

class Average : public OnTarget {};

/// Frames that are averaged, one after the other, in float64.
struct Expected {
  std::vector<double> count, mean[3];

  void take(const Values* fresh, const Values& change, double noise) {
    for (std::size_t i = 0; i < change.size(); ++i) {
      const double share = std::clamp((1.85 * noise - double(change[i])) / (0.5 * noise), 0.0, 1.0);
      count[i] = std::min(share * count[i] + 1, 8.0);
      for (int j = 0; j < 3; ++j) mean[j][i] += (double(fresh[j][i]) - mean[j][i]) / count[i];
    }
  }
};

Values random_values(Size size, unsigned seed, float most) {
  std::mt19937 random(seed);
  Values values(std::size_t(size.width) * std::size_t(size.height));
  for (float& value : values) value = most * float(random() % 4096) / 4096;
  return values;
}

TEST_P(Average, IsThatOfTheOracle) {
  constexpr float noise = 2;
  const Forced forced(GetParam());
  const Device device = GetParam().device(2);
  for (const Size size : sizes)
    with_backend(device, [&]<class Backend>() {
      Backend backend(device, {});
      const auto active = backend.activate();
      Workspace workspace(backend.memory());
      AveragedPlanes frames[2];
      Expected expected[2];
      View<float> fresh[2][3], changes[2], counts[2];
      for (unsigned i = 0; i < 2; ++i) {
        changes[i] = workspace.image<float>(size);
        counts[i] = frames[i].count = workspace.image<float>(size);
        expected[i].count.assign(std::size_t(size.width) * std::size_t(size.height), 1);
        for (unsigned j = 0; j < 3; ++j) {
          const Values first = random_values(size, 10 * i + j, 255);
          expected[i].mean[j].assign(first.begin(), first.end());
          fresh[i][j] = workspace.image<float>(size);
          frames[i].add(fresh[i][j], stored(backend, workspace, size, first));
        }
      }
      backend.replay(0, [&] { begin_average(backend, counts, 2); });
      for (unsigned time = 1; time < 12; ++time) {
        for (unsigned i = 0; i < 2; ++i) {
          Values values[3];
          for (unsigned j = 0; j < 3; ++j) {
            values[j] = random_values(size, 100 * time + 10 * i + j, 255);
            store(backend, fresh[i][j], values[j]);
          }
          const Values change = random_values(size, 1000 * time + i, time == 6 ? 9 : 4.2f);
          store(backend, changes[i], change);
          expected[i].take(values, change, noise);
        }
        backend.replay(1, [&] { average(backend, frames, changes, noise, 2); });
      }
      for (unsigned i = 0; i < 2; ++i) {
        const Values counted = values_of(backend, counts[i]);
        for (std::size_t k = 0; k < counted.size(); ++k)
          ASSERT_NEAR(expected[i].count[k], double(counted[k]), 1e-4) << k;
        for (int j = 0; j < 3; ++j) {
          const Values mean = values_of(backend, frames[i].mean[j]);
          for (std::size_t k = 0; k < mean.size(); ++k)
            ASSERT_NEAR(expected[i].mean[j][k], double(mean[k]), 1e-2) << k;
        }
      }
      // The change is that of plane 0.
      backend.replay(2, [&] { find_changes(backend, frames, changes, 1); });
      const Values change = values_of(backend, changes[0]), now = values_of(backend, fresh[0][0]),
                   mean = values_of(backend, frames[0].mean[0]);
      for (std::size_t k = 0; k < change.size(); ++k) ASSERT_EQ(change[k], std::abs(now[k] - mean[k])) << k;
    });
}

INSTANTIATE_TEST_SUITE_P(Targets, Average, every_target(), target_name);

}  // namespace
}  // namespace parafield
