// SPDX-License-Identifier: MIT
// Sums of images, in the order that reduce.hpp states.
#include "steps/reduce/reduce.hpp"

#include "steps/guarded.hpp"

namespace parafield {
namespace {

class Reduce : public OnTarget {
 protected:
  double sum_on_target(Guarded& image, const std::string& what) {
    const Size size = image.view().size();
    GuardedImage<double> row_sums({size.height, 1}), total({1, 1});
    run_on(GetParam(), {&image, &row_sums, &total}, [&]<class Backend>(Backend& backend) {
      sum<Backend>(backend, image.view(), row_sums.view(), total.view().data);
    });
    image.expect_intact_guard(what);
    row_sums.expect_intact_guard(what);
    total.expect_intact_guard(what);
    return total.view()(0, 0);
  }
};

template <class T>
double sum_in_order(const T* values, int count) {
  std::vector<double> lanes(32, 0.0);
  for (int i = 0; i < count; ++i) lanes[std::size_t(i % 32)] += double(values[i]);
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    for (std::size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    lanes.resize(half);
  }
  return lanes[0];
}

/// Values of very different magnitude, whose sum in any other order would differ.
Guarded image_of(Size size) {
  Guarded image(size);
  std::mt19937 random(17);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      image.view()(x, y) = std::ldexp(float(random() % 65536) - 30000, int(random() % 80) - 40);
  return image;
}

TEST_P(Reduce, AddsInTheStatedOrder) {
  for (const Size size : sizes) {
    Guarded image = image_of(size);
    std::vector<double> rows;
    for (int y = 0; y < size.height; ++y) rows.push_back(sum_in_order(image.view().row(y), size.width));
    ASSERT_EQ(sum_on_target(image, text_of(size)), sum_in_order(rows.data(), size.height)) << text_of(size);
  }
}

TEST_P(Reduce, ExactWhereFloatIsNot) {
  Guarded image({641, 479});
  for (int y = 0; y < 479; ++y)
    for (int x = 0; x < 641; ++x) image.view()(x, y) = float(x + 641 * y) + 0.25f;
  const double pixels = 641.0 * 479;
  EXPECT_EQ(sum_on_target(image, "ramp"), pixels * (pixels - 1) / 2 + 0.25 * pixels);
}

INSTANTIATE_TEST_SUITE_P(Targets, Reduce, every_target(), target_name);

}  // namespace
}  // namespace parafield
