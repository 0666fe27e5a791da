// SPDX-License-Identifier: MIT
// The census transform, and the distance of two transforms.
#include "steps/census/census.hpp"

#include <bitset>

#include "steps/guarded.hpp"

namespace parafield {
namespace {

class Census : public OnTarget {};

TEST_P(Census, AgreesWithThePlainLoop) {
  for (const Size size : sizes)
    for (const bool coarse : {false, true}) {  // coarse: many equal pixels
      const std::string what = text_of(size) + (coarse ? ", few values" : "");
      Guarded image(size, 21);
      for (int y = 0; y < size.height && coarse; ++y)
        for (int x = 0; x < size.width; ++x) image.view()(x, y) = std::floor(image.view()(x, y) / 64);
      GuardedImage<std::uint32_t> bits(size);
      run_on(GetParam(), {&image, &bits},
             [&]<class Backend>(Backend& backend) { census<Backend>(backend, image.view(), bits.view()); });
      const auto at = [&](int x, int y) {
        return image.view()(std::clamp(x, 0, size.width - 1), std::clamp(y, 0, size.height - 1));
      };
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          std::uint32_t expected = 0;
          for (int i = 0; i < 25; ++i)
            if (i != 12) expected = 2 * expected + (at(x + i % 5 - 2, y + i / 5 - 2) < at(x, y));
          ASSERT_EQ(bits.view()(x, y), expected) << what << " at (" << x << ", " << y << ")";
        }
      bits.expect_intact_guard(what);
    }
}

TEST(CensusDistance, CountsTheBitsThatDiffer) {
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t a = random() & 0xffffff, b = random() & 0xffffff;
    ASSERT_EQ(census_distance(a, b), float(std::bitset<32>(a ^ b).count()));
  }
  EXPECT_EQ(census_distance(0, 0xffffff), 24);
  EXPECT_GT(census_distance(5, no_census), 1e9f);
}

INSTANTIATE_TEST_SUITE_P(Targets, Census, every_target(), target_name);

}  // namespace
}  // namespace parafield
