// SPDX-License-Identifier: MIT
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <regex>

#include "markov/labels_of.hpp"
#include "markov/random_frames.hpp"
#include "on.hpp"
#include "oracle/belief_propagation.hpp"
#include "random_method.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

/// Common parts of the tests of belief propagation.
namespace parafield {
namespace {

template <class Task>
struct Solved {
  typename Task::Result field;
  std::vector<double> energies;
};

struct TwoFrames {
  Frame frame0, frame1;
};

/// Part of both frames of a pair, from pixel (x0, y0) on.
struct Part {
  FloatFrame frame0, frame1;

  Part(const RandomPair& pair, int x0, int y0, Size size)
      : frame0(size, PixelFormat::gray_f32), frame1(size, PixelFormat::gray_f32) {
    RandomPair whole = pair;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        frame0(x, y) = whole.frame0(x0 + x, y0 + y);
        frame1(x, y) = whole.frame1(x0 + x, y0 + y);
      }
  }
};

std::vector<const Image<float>*> planes_of(const DisparityField& field) {
  return {&field.d, &field.confidence};
}
std::vector<const Image<float>*> planes_of(const FlowField& field) {
  return {&field.u, &field.v, &field.confidence};
}

/// Expects `part` to have the bits of `whole` from pixel (x0, y0) on. The confidence of disparities compares
/// the surrounding 5x5 pixels, so it may differ at the two pixels along the border of a part.
template <class Result>
void expect_part(const Result& whole, int x0, int y0, const Result& part, const std::string& what) {
  const auto a = planes_of(whole), b = planes_of(part);
  const Size size = part.size();
  const bool is_all = size.width == whole.size().width && size.height == whole.size().height;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool looks_around = std::is_same_v<Result, DisparityField> && i + 1 == a.size() && !is_all;
    const int border = looks_around ? 2 : 0;
    for (int y = border; y < size.height - border; ++y)
      for (int x = border; x < size.width - border; ++x)
        ASSERT_EQ((*a[i])(x0 + x, y0 + y), (*b[i])(x, y))
            << "plane " << i << " at " << x << ", " << y << " of the part\n  " << what;
  }
}

/// The paper's parameters.
template <class Energy>
BeliefPropagation<Energy> paper() {
  return preset<BeliefPropagation<Energy>>("paper");
}
template <class Energy>
BeliefPropagation<Energy> paper(const Energy& energy) {
  auto method = paper<Energy>();
  method.energy = energy;
  return method;
}

/// Energy of the paper with few labels and without presmoothing.
template <class Energy>
Energy small_energy() {
  Energy energy = paper<Energy>().energy;
  if constexpr (requires { energy.disparities; })
    energy.disparities = 6;
  else
    energy.max_displacement = 2;
  energy.cost.presmooth = 0;
  return energy;
}

class PropagationTest : public OnDevice {
 protected:
  template <class Task, class Method, class Images>
  Solved<Task> solve(const Method& method, const Images& images,
                     EnergyReport report = EnergyReport::result) const {
    typename Task::Options options;
    options.energies = report;
    Estimator<Task> estimator(method, Frame(images.frame0).size(), on(device(), options));
    const auto& result = estimator(images.frame0, images.frame1);
    estimator.synchronize();
    return {result.to(Memory::host()), estimator.energies()};
  }
};

}  // namespace
}  // namespace parafield
