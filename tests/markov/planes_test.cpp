// SPDX-License-Identifier: MIT
// Steps that prepare planes and edge weights, against plain loops.
#include "markov/planes/planes.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "noise.hpp"
#include "oracle/label_fields.hpp"
#include "steps/convert/convert.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

using Words = GuardedImage<std::uint32_t>;

class PlaneSteps : public OnTarget {};

View<std::uint32_t> words(View<float> plane) {
  return {reinterpret_cast<std::uint32_t*>(plane.data), plane.width, plane.height, plane.pitch};
}

TEST_P(PlaneSteps, ConvertColor) {
  using enum PixelFormat;
  for (const PixelFormat format :
       {gray_u8, gray_u16, gray_f32, rgb_u8, rgb_u16, rgb_f32, bgr_u8, rgba_u8, bgra_u8})
    for (const Size size : sizes) {
      const std::string what = std::string(to_string(format)) + " " + text_of(size);
      const GuardedFrame frame(size, format, 3, 0, 20, 0xff);
      FrameBuffer there(size, format);
      Frame input = frame;
      for (int y = 0; y < size.height; ++y)
        std::memcpy(there.row(y), static_cast<const char*>(input.data) + y * input.pitch,
                    std::size_t(size.width * bytes_per_pixel(format)));
      if (!GetParam().instruction_set) {
        there = there.to(Memory::cuda());
        input = there;
      }
      std::vector<Guarded> planes;
      for (int i = 0; i < 3; ++i) planes.emplace_back(size);
      run_on(GetParam(), {&planes[0], &planes[1], &planes[2]}, [&]<class Backend>(Backend& backend) {
        const View<float> to[] = {planes[0].view(), planes[1].view(), planes[2].view()};
        convert_color(backend, input, to);
      });
      const oracle::Color expected = oracle::colors(frame);
      for (std::size_t i = 0; i < 3; ++i) {
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            ASSERT_NEAR(planes[i].view()(x, y), expected[i](x, y), 2e-5)
                << what << ", channel " << i << " at (" << x << ", " << y << ")";
        planes[i].expect_intact_guard(what);
      }
    }
}

/// Random value, every fifth one not finite.
float odd_value(std::mt19937& random) {
  constexpr float odd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(), 1e31f, -1e31f};
  return random() % 5 ? float(random() % 256) : odd[random() % 5];
}

TEST_P(PlaneSteps, Clean) {
  for (const Size size : sizes)
    for (const int count : {1, 3, 4}) {
      const std::string what = text_of(size) + ", planes: " + std::to_string(count);
      std::mt19937 random(7);
      std::vector<Guarded> planes;
      std::vector<Image<float>> before;
      for (int i = 0; i < count; ++i) {
        planes.emplace_back(size);
        before.emplace_back(size);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            before.back()(x, y) = planes.back().view()(x, y) = odd_value(random);
      }
      // The second call has nothing to clean: its flags are all 1.
      GuardedImage<std::uint8_t> known(size), known_again(size);
      std::vector<Movable*> images{&known, &known_again};
      for (Guarded& plane : planes) images.push_back(&plane);
      const Forced forced(GetParam());
      const Device device = GetParam().device(2);
      with_backend(device, [&]<class Backend>() {
        Backend backend(device, {});
        for (Movable* image : images) image->move(backend.memory());
        Planes all;
        for (Guarded& plane : planes) all.add(words(plane.view()), 0);
        backend.replay({}, [&] {
          clean(backend, &all, std::array{known.view()}.data(), 1);
          clean(backend, &all, std::array{known_again.view()}.data(), 1);
        });
        backend.synchronize();
        for (Movable* image : images) image->move(Memory::host());
      });
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          bool all = true;
          for (std::size_t i = 0; i < planes.size(); ++i) {
            const float value = before[i](x, y);
            const bool finite = std::isfinite(value) && std::abs(value) <= 1e30f;
            all = all && finite;
            ASSERT_EQ(planes[i].view()(x, y), finite ? value : 0.0f)
                << what << " at (" << x << ", " << y << ")";
          }
          ASSERT_EQ(known.view()(x, y), all) << what << " at (" << x << ", " << y << ")";
          ASSERT_EQ(known_again.view()(x, y), 1) << what;
        }
      known.expect_intact_guard(what);
      for (const Guarded& plane : planes) plane.expect_intact_guard(what);
    }
}

TEST_P(PlaneSteps, CentralDifferences) {
  for (const Size size : sizes) {
    Guarded image(size, 8), derivative(size);
    run_on(GetParam(), {&image, &derivative}, [&]<class Backend>(Backend& backend) {
      central_differences<Backend>(backend, image.view(), derivative.view());
    });
    const oracle::Grid plain = oracle::grid_of(image.view());
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)  // exact: values are multiples of 1/256
        ASSERT_EQ(derivative.view()(x, y), oracle::central_difference(plain, x, y))
            << text_of(size) << " at (" << x << ", " << y << ")";
    derivative.expect_intact_guard(text_of(size));
  }
}

/// The room around a plane holds the nearest pixel, or the plane's own value.
TEST_P(PlaneSteps, Extend) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}, Size{101, 67}})
    for (const Size room : {Size{1, 0}, Size{0, 1}, Size{5, 3}, Size{40, 0}, Size{17, 17}})
      for (const bool nearest : {false, true}) {
        const std::string what = text_of(size) + ", room " + text_of(room) + (nearest ? ", nearest" : "");
        const Size whole{size.width + 2 * room.width, size.height + 2 * room.height};
        std::vector<Words> planes;
        for (unsigned i = 0; i < 2; ++i) {
          planes.emplace_back(whole);
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x)
              planes.back().view()(x + room.width, y + room.height) =
                  std::uint32_t(1000 * i) + std::uint32_t(y * size.width + x);
        }
        run_on(GetParam(), {&planes[0], &planes[1]}, [&]<class Backend>(Backend& backend) {
          Planes all;
          for (unsigned i = 0; i < 2; ++i) {
            const View<std::uint32_t> plane = planes[i].view();
            all.add({&plane.row(room.height)[room.width], size.width, size.height, plane.pitch}, 70 + i);
          }
          extend(backend, &all, 1, room.width, room.height, nearest ? Padding::nearest : Padding::outside);
        });
        for (unsigned i = 0; i < 2; ++i) {
          for (int y = 0; y < whole.height; ++y)
            for (int x = 0; x < whole.width; ++x) {
              const int px = x - room.width, py = y - room.height;
              const int cx = std::clamp(px, 0, size.width - 1), cy = std::clamp(py, 0, size.height - 1);
              const bool inside = cx == px && cy == py;
              ASSERT_EQ(planes[i].view()(x, y),
                        nearest || inside ? 1000 * i + unsigned(cy * size.width + cx) : 70 + i)
                  << what << " at (" << px << ", " << py << ")";
            }
          planes[i].expect_intact_guard(what);
        }
      }
}

TEST_P(PlaneSteps, EdgeWeights) {
  for (const Size size : sizes)
    for (const int directions : {2, 4}) {
      const std::string what = text_of(size) + ", directions: " + std::to_string(directions);
      constexpr float scale = 15, floor = 0.2f;
      std::vector<Guarded> planes, weights;
      std::vector<Movable*> images;
      for (unsigned i = 0; i < 3; ++i) planes.emplace_back(size, 30 + i);
      for (int j = 0; j < directions; ++j) weights.emplace_back(size);
      for (Guarded& plane : planes) images.push_back(&plane);
      for (Guarded& plane : weights) images.push_back(&plane);
      run_on(GetParam(), images, [&]<class Backend>(Backend& backend) {
        View<const float> from[3];
        for (std::size_t i = 0; i < planes.size(); ++i) from[i] = planes[i].view();
        parafield::EdgeWeights to;
        for (std::size_t j = 0; j < weights.size(); ++j) to.forward[j] = weights[j].view();
        edge_weights(backend, from, scale, floor, to);
      });
      constexpr Offset offsets[] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
      for (std::size_t j = 0; j < weights.size(); ++j) {
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const int nx = x + offsets[j].x, ny = y + offsets[j].y;
            const bool inside = nx >= 0 && nx < size.width && ny < size.height;
            double difference = 0;
            for (Guarded& plane : planes)
              if (inside)
                difference =
                    std::max(difference, std::abs(double(plane.view()(x, y)) - double(plane.view()(nx, ny))));
            const double expected = inside ? floor + (1 - double(floor)) * std::exp(-difference / scale) : 0;
            ASSERT_NEAR(weights[j].view()(x, y), expected, 1e-6)
                << what << ", direction " << j << " at (" << x << ", " << y << ")";
          }
        weights[j].expect_intact_guard(what);
      }
    }
}

/// Over the range of weights, mixed data costs and probabilities.
TEST(Exponential, IsAccurate) {
  for (double x = 0; x > -80; x -= 0.0137) {
    const float value = exponential(float(x));
    const double expected = std::exp(double(float(x)));
    // The product log2(e) * x is rounded before its whole part is removed, which adds some ulp of x.
    ASSERT_NEAR(value, expected, expected * (3e-7 + 1.2e-7 * std::abs(x))) << x;
  }
  EXPECT_EQ(exponential(0), 1);
  EXPECT_GT(exponential(-1e30f), 0);
  EXPECT_LT(exponential(-1e30f), 2e-38f);
}

INSTANTIATE_TEST_SUITE_P(Targets, PlaneSteps, every_target(), target_name);

}  // namespace
}  // namespace parafield
