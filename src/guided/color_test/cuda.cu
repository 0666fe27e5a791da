// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "guided/color_test/color_test.hpp"

namespace parafield {

template <class Backend>
void test_colors(Backend& cuda, const ColorTest& test, FlowPlanes flow) {
  for_pixels<32, 4>(cuda, test.valid.size(), [=] __device__(int x, int y) {
    Motion motion = flow.at(x, y);
    test.valid(x, y) = passes_test(test, x, y, motion);
    flow.set(x, y, motion);
  });
}

template <class Backend>
void keep_better(Backend& cuda, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow) {
  for_pixels(cuda, gain.size(), [=] __device__(int x, int y) {
    gain(x, y) = gain_of(frame0(x, y), frame1.data, int(frame1.stride()), gain.width, gain.height, float(x),
                         float(y), flow.at(x, y), candidate.at(x, y));
  });
  for_pixels(cuda, gain.size(), [=] __device__(int x, int y) {
    float sum = 0;
    for (int row = larger(y - better_reach, 0); row <= smaller(y + better_reach, gain.height - 1); ++row)
      for (int column = larger(x - better_reach, 0); column <= smaller(x + better_reach, gain.width - 1);
           ++column)
        sum += gain(column, row);
    if (sum > 0) flow.set(x, y, candidate.at(x, y));
  });
}

PF_STEP(test_colors<Cuda>);
PF_STEP(keep_better<Cuda>);

}  // namespace parafield
