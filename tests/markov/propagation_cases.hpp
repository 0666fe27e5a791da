// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cstdio>

#include "markov/labels_of.hpp"
#include "markov/random_frames.hpp"
#include "oracle/belief_propagation.hpp"
#include "random_method.hpp"
#include "tasks/on_device.hpp"

/// Cases for the comparison of belief propagation with its oracle: images, energies and parameters.
namespace parafield {
namespace {

/// A method, and the random images of a seed.
template <class Energy>
struct Case {
  BeliefPropagation<Energy> method;
  Size size;
  unsigned seed;

  /// Little noise for `mix`: on unlike pixels it has the same cost for all labels, and rounding decides.
  RandomPair images() const {
    return {size, seed, seed % 2 == 1, method.energy.cost.data == DataTerm::mix ? 6.0f : 90.0f};
  }
  std::string described() const {
    return parafield::described(method) + ", " + std::to_string(size.width) + "x" +
           std::to_string(size.height) + ", seed " + std::to_string(seed);
  }
};

/// Every smoothness model with and without truncation, with and without edge weights.
inline std::vector<Smoothness> every_smoothness() {
  std::vector<Smoothness> list;
  for (const SmoothnessModel model :
       {SmoothnessModel::potts, SmoothnessModel::linear, SmoothnessModel::quadratic})
    for (const float truncation : {0.0f, 1.75f})
      for (const float edge_scale : {0.0f, 100.0f})
        list.push_back({.smoothness = model,
                        .beta = model == SmoothnessModel::potts ? 16.0f : 8.0f,
                        .smoothness_truncation = truncation,
                        .neighbors = 4,
                        .edge_scale = edge_scale});
  return list;
}

/// Data costs of a seed: some computed when they are read, some stored.
MatchingCost cost(unsigned seed) {
  if (seed % 4 == 2)
    return {.data = DataTerm::mix,
            .rgb = seed % 3 == 1,
            .weight = 30,
            .truncation = seed % 8 == 2 ? 2.6f : 0.0f,
            .aggregation = seed % 7 == 5 ? 3 : 1,
            .texture_aware = seed % 16 > 7};
  MatchingCost cost{.data = seed % 3 == 2 ? DataTerm::census : DataTerm::absolute,
                    .rgb = seed % 3 == 1,
                    .weight = seed % 3 == 2 ? 3.0f : 1.0f,
                    .truncation = seed % 3 == 2 ? 20.0f : 60.0f,
                    .aggregation = seed % 7 == 5 ? 3 : 1,
                    .presmooth = seed % 4 == 3 ? 0.8f : 0.0f};
  return cost;
}

/// Case of a seed. Every number of levels occurs with every number of iterations, some with
/// other numbers on the finest level.
template <class Energy>
Case<Energy> case_of(const Energy& energy, Size size, unsigned seed) {
  auto method = preset<BeliefPropagation<Energy>>("paper");
  method.energy = energy;
  method.energy.cost = cost(seed);
  method.levels = 1 + int(seed % 5);
  method.iterations = 1 + int(seed / 5 % 6);
  if (seed % 6 == 3 || seed % 6 == 5) method.finest_iterations = seed % 6 == 5 ? 0 : 2;
  return {method, size, seed};
}

std::vector<Case<StereoEnergy>> stereo_cases() {
  struct {
    Size size;
    int disparities, least;
  } constexpr images[] = {
      {{1, 9}, 1, 0},     {{9, 1}, 15, -7},  {{2, 2}, 3, -1},  {{5, 3}, 2, 0},   {{1, 1}, 1, 0},
      {{3, 3}, 5, -2},    {{16, 5}, 15, 0},  {{17, 4}, 16, 0}, {{11, 7}, 17, 8}, {{18, 3}, 33, 0},
      {{36, 2}, 70, -34}, {{23, 11}, 15, 0}, {{67, 5}, 6, -3}, {{2, 1}, 2, 0},   {{140, 3}, 4, -1},
      {{255, 2}, 3, 0}};  // half rows as long as those in memory
  std::vector<Case<StereoEnergy>> cases;
  unsigned seed = 0;
  for (const Smoothness& smoothness : every_smoothness())
    for (const auto& [size, disparities, least] : images) {
      const int first =
          std::max(least + disparities > size.width ? size.width - disparities : least, 1 - size.width);
      cases.push_back(
          case_of(StereoEnergy{.disparities = disparities, .min_disparity = first, .smoothness = smoothness},
                  size, ++seed));
    }
  return cases;
}

std::vector<Case<DisplacementEnergy>> flow_cases() {
  constexpr Size sizes[] = {{1, 9}, {9, 1}, {2, 2}, {5, 3}, {1, 1}, {1, 2}, {3, 3}, {13, 9}, {71, 4}};
  std::vector<Case<DisplacementEnergy>> cases;
  unsigned seed = 1;
  for (const Smoothness& smoothness : every_smoothness())
    for (const Size size : sizes) {
      const int most = size.width > 60 ? 1 : 1 + int(seed % 3);
      cases.push_back(
          case_of(DisplacementEnergy{.max_displacement = most, .smoothness = smoothness}, size, ++seed));
    }
  return cases;
}

/// Cases whose truncation is above every difference, so that only matches outside the image reach it.
template <class Energy>
std::vector<Case<Energy>> high_truncation_cases(const Energy& given) {
  std::vector<Case<Energy>> cases;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Energy energy = given;
    energy.smoothness = {.beta = 0.7f, .smoothness_truncation = 12};
    Case<Energy> c = case_of(energy, {37, 11}, seed);
    c.method.energy.cost = {.data = seed % 2 ? DataTerm::mix : DataTerm::census,
                            .rgb = true,
                            .weight = seed % 2 ? 0.5f : 0.05f,
                            .truncation = seed % 2 ? 50.0f : 500.0f,
                            .aggregation = seed % 4 < 2 ? 1 : 5,
                            .texture_aware = seed > 4};
    c.method.levels = 5;
    cases.push_back(c);
  }
  return cases;
}

}  // namespace
}  // namespace parafield
