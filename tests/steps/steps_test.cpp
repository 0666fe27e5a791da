// SPDX-License-Identifier: MIT
// Every step on every target: values of the oracle, bits of the reference target, and no write outside the
// result.
#include "oracle/steps.hpp"

#include <functional>
#include <map>

#include "noise.hpp"
#include "steps/colors/colors.hpp"
#include "steps/convert/convert.hpp"
#include "steps/guarded.hpp"
#include "steps/median/median.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/resize/resize.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {
namespace {

void expect_near(const oracle::Grid& expected, View<const float> actual, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(expected.size, actual.size()) << what;
  for (int y = 0; y < actual.height; ++y)
    for (int x = 0; x < actual.width; ++x)
      ASSERT_NEAR(expected(x, y), double(actual(x, y)), tolerance)
          << what << " at (" << x << ", " << y << ")";
}

void expect_same_bits(View<const float> a, View<const float> b, const std::string& what) {
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x)
      ASSERT_EQ(std::memcmp(&a(x, y), &b(x, y), sizeof(float)), 0)
          << what << " at (" << x << ", " << y << "): " << a(x, y) << " and " << b(x, y);
}

class Steps : public OnTarget {
 protected:
  /// Compares the results of a step with the reference target's. make(target): result images in host memory.
  /// check(results): compares them with the oracle's. With sanitizers nothing is compared but the guards.
  void expect_like_reference(const std::function<std::vector<Guarded>(const Target&)>& make,
                             const std::string& what,
                             const std::function<void(std::vector<Guarded>&)>& check) {
    std::vector<Guarded> actual = make(GetParam());
    for (Guarded& image : actual) image.expect_intact_guard(what);
    if (sanitized) return;
    check(actual);
    std::vector<Guarded> expected = make(reference_target());
    for (std::size_t i = 0; i < actual.size(); ++i)
      expect_same_bits(expected[i].view(), actual[i].view(), what);
  }
};

constexpr PixelFormat formats[] = {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::gray_f32,
                                   PixelFormat::rgb_u8,  PixelFormat::rgb_u16,  PixelFormat::rgb_f32,
                                   PixelFormat::bgr_u8,  PixelFormat::rgba_u8,  PixelFormat::bgra_u8};

/// The frame in a target's memory, which `there` owns.
Frame placed(const Frame& frame, const Target& target, FrameBuffer& there) {
  if (target.instruction_set) return frame;
  there = FrameBuffer(frame.size(), frame.format);
  for (int y = 0; y < frame.height; ++y)
    std::memcpy(there.row(y), static_cast<const char*>(frame.data) + y * frame.pitch,
                std::size_t(frame.width * bytes_per_pixel(frame.format)));
  there = there.to(Memory::cuda());
  there.set_range(frame.range);
  return there;
}

TEST_P(Steps, Convert) {
  for (const PixelFormat format : formats)
    for (const Size size : sizes) {
      const GuardedFrame pixels(size, format, 3, 0, 20, 0xff);
      Frame frame = pixels;
      if (size.height % 2 == 0) frame.range = some_range(format);
      const std::string what = std::string(to_string(format)) + " " + text_of(size);
      const auto make = [&](const Target& target) {
        std::vector<Guarded> result;
        result.emplace_back(size);
        FrameBuffer there;
        const Frame input = placed(frame, target, there);
        run_on(target, {&result[0]}, [&]<class Backend>(Backend& backend) {
          const View<float> luma = result[0].view();
          convert(backend, &input, &luma, 1);
        });
        return result;
      };
      expect_like_reference(
          make, what, [&](auto& result) { expect_near(oracle::luma(frame), result[0].view(), 1e-4, what); });
      if (HasFatalFailure()) return;
    }
}

TEST_P(Steps, BuildPyramids) {
  for (const Size size : sizes) {
    const std::vector<Size> levels = pyramid_sizes(size, 6);
    const auto make = [&](const Target& target) {  // levels 1 and up of two frames
      std::vector<Guarded> result;
      std::vector<Guarded> frames;
      for (unsigned seed : {5, 6}) {
        frames.emplace_back(size, seed);
        for (std::size_t i = 1; i < levels.size(); ++i) result.emplace_back(levels[i]);
      }
      std::vector<Movable*> images{&frames[0], &frames[1]};
      for (Guarded& image : result) images.push_back(&image);
      run_on(target, images, [&]<class Backend>(Backend& backend) {
        Pyramid pyramids[2];
        for (std::size_t i = 0; i < 2; ++i) {
          pyramids[i].level[pyramids[i].levels++] = frames[i].view();
          for (std::size_t level = 1; level < levels.size(); ++level)
            pyramids[i].level[pyramids[i].levels++] = result[i * (levels.size() - 1) + level - 1].view();
        }
        build_pyramids(backend, pyramids, 2);
      });
      return result;
    };
    expect_like_reference(make, text_of(size), [&](auto& result) {
      for (unsigned i = 0; i < 2; ++i) {
        oracle::Grid expected = oracle::grid_of(Guarded(size, 5 + i).view());
        for (std::size_t level = 1; level < levels.size(); ++level) {
          expected = oracle::reduce(expected);
          expect_near(expected, result[i * (levels.size() - 1) + level - 1].view(), 1e-3, text_of(size));
        }
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(Steps, ConvertPyramids) {
  for (const PixelFormat format : formats)
    for (const Size size : sizes) {
      const int padding = size.width % 2 ? 13 : 8;  // rows with and without room for vectors
      const GuardedFrame first(size, format, 3, 0, padding, 0xff), second(size, format, 4, 0, padding, 0xff);
      const std::string what = std::string(to_string(format)) + " " + text_of(size);
      const std::vector<Size> levels = pyramid_sizes(size, 6);
      const auto make = [&](const Target& target) {  // all levels of two frames, in three ways
        std::vector<Guarded> result;
        for (int i = 0; i < 6; ++i)
          for (const Size level : levels) result.emplace_back(level);
        std::vector<Movable*> images;
        for (Guarded& image : result) images.push_back(&image);
        FrameBuffer there[2];
        const Frame frames[] = {placed(first, target, there[0]), placed(second, target, there[1])};
        Workspace workspace(frames[0].memory);
        const KeptFrames kept = KeptFrames::make(workspace, size, 2);
        run_on(target, images, [&]<class Backend>(Backend& backend) {
          Pyramid pyramids[6];
          for (std::size_t i = 0; i < result.size(); ++i) {
            Pyramid& pyramid = pyramids[i / levels.size()];
            pyramid.level[pyramid.levels++] = result[i].view();
          }
          const View<float> luma[] = {pyramids[0].level[0], pyramids[1].level[0]};
          convert(backend, frames, luma, 2);
          build_pyramids(backend, pyramids, 2);
          convert_pyramids(backend, frames, pyramids + 2, 2);
          convert_and_keep(backend, frames, pyramids + 4, 2, 0, kept);
        });
        return result;
      };
      expect_like_reference(make, what, [&](auto& result) {
        for (std::size_t i = 0; i < 4 * levels.size(); ++i)
          expect_same_bits(result[i % (2 * levels.size())].view(), result[2 * levels.size() + i].view(),
                           what);
      });
      if (HasFatalFailure()) return;
    }
}

TEST_P(Steps, Smooth) {
  for (const float sigma : {0.3f, 0.5f, 0.8f, 1.7f, 5.0f})
    for (const Size size : sizes) {
      const std::string what = "sigma " + std::to_string(sigma) + ", " + text_of(size);
      Guarded image(size, 6);
      const oracle::Grid expected =
          oracle::smooth(oracle::grid_of(image.view()), oracle::gaussian_taps(sigma));
      const auto make = [&](const Target& target) {
        std::vector<Guarded> result;
        result.emplace_back(size);
        Guarded in(size, 6);
        run_on(target, {&in, &result[0]}, [&]<class Backend>(Backend& backend) {
          const View<float> from = in.view(), to = result[0].view();
          smooth(backend, &from, gaussian_taps(sigma), &to, 1);
        });
        return result;
      };
      expect_like_reference(make, what,
                            [&](auto& result) { expect_near(expected, result[0].view(), 1e-3, what); });
      if (HasFatalFailure()) return;
    }
}

/// Luma and smoothing in one pass give the bits of one after the other.
TEST_P(Steps, SmoothFrames) {
  for (const float sigma : {0.3f, 0.5f, 0.9f, 1.5f, 5.0f})
    for (const PixelFormat format : formats)
      for (const Size size : sizes) {
        const int padding = size.width % 2 ? 13 : 8;  // rows with and without room for vectors
        const GuardedFrame frame(size, format, 3, 0, padding, 0xff);
        const std::string what =
            std::string(to_string(format)) + " " + text_of(size) + ", sigma " + std::to_string(sigma);
        const Taps taps = gaussian_taps(sigma);
        const auto make = [&](const Target& target) {
          std::vector<Guarded> result;
          for (int i = 0; i < 3; ++i) result.emplace_back(size);
          FrameBuffer there;
          const Frame input = placed(frame, target, there);
          run_on(target, {&result[0], &result[1], &result[2]}, [&]<class Backend>(Backend& backend) {
            backend.reserve_scratch(smooth_scratch(taps, size.width));
            const View<float> luma = result[0].view(), expected = result[1].view(), to = result[2].view();
            convert(backend, &input, &luma, 1);
            smooth(backend, &luma, taps, &expected, 1);
            smooth_luma(backend, &input, taps, &to, 1);
          });
          return result;
        };
        expect_like_reference(
            make, what, [&](auto& result) { expect_same_bits(result[1].view(), result[2].view(), what); });
        if (HasFatalFailure()) return;
      }
}

TEST_P(Steps, Median) {
  for (const int side : {3, 5})
    for (const int count : {1, 2})
      for (const Size size : sizes) {
        const std::string what = std::to_string(side) + "x" + std::to_string(side) + ", " + text_of(size) +
                                 ", images: " + std::to_string(count);
        const auto make = [&](const Target& target) {
          std::vector<Guarded> in, result;
          std::vector<Movable*> images;
          for (unsigned i = 0; i < unsigned(count); ++i) {
            in.emplace_back(size, 7 + i);
            result.emplace_back(size);
          }
          for (Guarded& image : in) images.push_back(&image);
          for (Guarded& image : result) images.push_back(&image);
          run_on(target, images, [&]<class Backend>(Backend& backend) {
            const View<float> from[] = {in.front().view(), in.back().view()};
            const View<float> to[] = {result.front().view(), result.back().view()};
            median(backend, from, side, to, count);
          });
          return result;
        };
        expect_like_reference(make, what, [&](auto& result) {
          for (unsigned i = 0; i < unsigned(count); ++i)  // exact
            expect_near(oracle::median(oracle::grid_of(Guarded(size, 7 + i).view()), side), result[i].view(),
                        0, what);
        });
        if (HasFatalFailure()) return;
      }
}

TEST_P(Steps, EnlargeFlow) {
  for (const Size size : sizes) {
    const Size coarse{(size.width + 1) / 2, (size.height + 1) / 2};
    Guarded u(coarse, 9), v(coarse, 10);
    const oracle::Grid expected_u = oracle::enlarge(oracle::grid_of(u.view()), size);
    const oracle::Grid expected_v = oracle::enlarge(oracle::grid_of(v.view()), size);
    const auto make = [&](const Target& target) {
      std::vector<Guarded> result;
      result.emplace_back(size);
      result.emplace_back(size);
      Guarded in_u(coarse, 9), in_v(coarse, 10);
      run_on(target, {&in_u, &in_v, &result[0], &result[1]}, [&]<class Backend>(Backend& backend) {
        enlarge_flow(backend, FlowPlanes{in_u.view(), in_v.view()},
                     FlowPlanes{result[0].view(), result[1].view()});
      });
      return result;
    };
    expect_like_reference(make, text_of(size), [&](auto& result) {
      expect_near(expected_u, result[0].view(), 1e-3, text_of(size));
      expect_near(expected_v, result[1].view(), 1e-3, text_of(size));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(Steps, ReduceFlow) {
  for (const Size size : sizes)
    for (const int level : {0, 1, 3}) {
      const Size coarse = pyramid_sizes(size, level + 1).back();
      const int reached = int(pyramid_sizes(size, level + 1).size()) - 1;
      const std::string what = "level " + std::to_string(reached) + " of " + text_of(size);
      const auto make = [&](const Target& target) {
        std::vector<Guarded> result;
        for (int i = 0; i < 2; ++i) result.emplace_back(coarse);
        Guarded u(size, 11), v(size, 12);
        u.view()(0, 0) = std::numeric_limits<float>::quiet_NaN();
        v.view()(0, 0) = 1e10f;
        run_on(target, {&u, &v, &result[0], &result[1]}, [&]<class Backend>(Backend& backend) {
          reduce_flow<Backend>(backend, u.view(), v.view(), reached, {result[0].view(), result[1].view()});
        });
        return result;
      };
      expect_like_reference(make, what, [&](auto& result) {
        Guarded u(size, 11);
        for (int y = 0; y < coarse.height; ++y)
          for (int x = 0; x < coarse.width; ++x) {
            const int fx = std::min(x << reached, size.width - 1),
                      fy = std::min(y << reached, size.height - 1);
            const float expected = x == 0 && y == 0 ? 0 : u.view()(fx, fy) / float(1 << reached);
            ASSERT_EQ(result[0].view()(x, y), expected) << what;
          }
        ASSERT_EQ(result[1].view()(0, 0), 0) << what << ": flow that is not finite starts as 0";
      });
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, Steps, every_target(), target_name);

}  // namespace
}  // namespace parafield
