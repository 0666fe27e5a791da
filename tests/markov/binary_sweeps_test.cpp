// SPDX-License-Identifier: MIT
// ICM of masks computes all its sweeps at once, unless the energies of each sweep are requested: the masks
// are the same.
#include <random>

#include "markov/random_frames.hpp"
#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class BinarySweeps : public OnDevice {};

TEST_P(BinarySweeps, AreThoseOfSingleSweeps) {
  std::mt19937 random(7);
  const Size sizes[] = {{1, 1},  {1, 9},  {9, 1},    {2, 2},     {31, 5},   {32, 70},
                        {33, 3}, {65, 8}, {127, 65}, {129, 200}, {300, 131}};
  unsigned seed = 1;
  for (const Size size : sizes)
    for (const int sweeps : {0, 1, 2, 10, 11, 20, 23})
      for (const float beta : {0.0f, 0.3f, 1.0f, 5.0f}) {
        const RandomPair pair(size, ++seed, false);
        Icm<ChangeEnergy> method;
        method.energy = {.mean = 60, .sigma = 50, .beta = beta};
        method.sweeps = sweeps;
        MotionDetector one_by_one(method, size, {.device = device(), .energies = EnergyReport::sweeps}),
            at_once(method, size, {.device = device()});
        const MotionMask &expected = one_by_one(pair.frame0, pair.frame1),
                         &found = at_once(pair.frame0, pair.frame1);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            ASSERT_EQ(int(found.moving(x, y)), int(expected.moving(x, y)))
                << size.width << "x" << size.height << ", " << sweeps << " sweeps, beta " << beta << " at "
                << x << ", " << y;
            ASSERT_EQ(found.confidence(x, y), expected.confidence(x, y));
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Devices, BinarySweeps, every_device(), device_name);

}  // namespace
}  // namespace parafield
