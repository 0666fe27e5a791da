// SPDX-License-Identifier: MIT
// Flatness of frames, and their words, against float64.
#include <cmath>

#include "markov/mix/words.hpp"
#include "oracle/label_fields.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

using oracle::Grid;
using Words = GuardedImage<std::uint32_t>;

/// Calls f(x, y) for each pixel, up to the first failure, which it locates.
template <class F>
void each_pixel(Size size, const std::string& what, F f) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      f(x, y);
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << what << " at (" << x << ", " << y << ")";
    }
}

/// Sets each pixel to f(x, y).
template <class F>
void draw(Guarded& image, F f) {
  for (int y = 0; y < image.view().height; ++y)
    for (int x = 0; x < image.view().width; ++x) image.view()(x, y) = f(x, y);
}

/// Planes of a frame and its words. `planes`: luma, and in color red, green and blue.
struct TestFrame {
  std::vector<Guarded> planes;
  Guarded flatness;
  Words words[3];  // color, gradient, census
};

using Frames = std::vector<TestFrame>;

/// Frames whose texture grows along x. The second one has values beyond 0..255 and derivatives beyond +-32.
Frames frames_of(Size size, bool of_color, int count) {
  Frames frames;
  std::mt19937 random(60);
  for (int i = 0; i < count; ++i) {
    frames.push_back({{}, Guarded(size), {Words(size), Words(size), Words(size)}});
    for (int j = 0; j < (of_color ? 4 : 1); ++j) {
      const float mean = float(random() % 240), strength = i == 0 ? 24 : 600;
      draw(frames.back().planes.emplace_back(size), [&](int x, int) {
        return mean + strength * (float(random() % 65536) / 65536 - 0.5f) * float(x + 1) / float(size.width);
      });
    }
  }
  return frames;
}

enum class Step { find, mix, mix_texture };

/// Runs a step, without flatness if it is mix_texture, and checks that it writes nothing outside its planes.
void run(const Target& target, Frames& frames, Step step) {
  std::vector<Movable*> images;
  for (TestFrame& frame : frames) {
    images.insert(images.end(), {&frame.flatness, &frame.words[0], &frame.words[1], &frame.words[2]});
    for (Guarded& plane : frame.planes) images.push_back(&plane);
  }
  run_on(target, images, [&]<class Backend>(Backend& backend) {
    backend.reserve_scratch(word_scratch(frames[0].flatness.view().width));
    MixSource sources[2] = {};
    View<float> luma[2], flatness[2];
    WordViews words[2];
    for (std::size_t i = 0; i < frames.size(); ++i) {
      TestFrame& frame = frames[i];
      luma[i] = frame.planes[0].view();
      for (View<float>* to = sources[i].plane; Guarded & plane : frame.planes) *to++ = plane.view();
      if (step != Step::mix_texture) flatness[i] = frame.flatness.view();
      words[i] = {frame.words[0].view(), frame.words[1].view(), frame.words[2].view()};
    }
    if (step == Step::find)
      find_flatness(backend, luma, gaussian_taps(texture_sigma), flatness, int(frames.size()));
    else
      mix_words(backend, sources, flatness, gaussian_taps(flat_sigma), words, int(frames.size()));
  });
  for (TestFrame& frame : frames) {
    frame.flatness.expect_intact_guard("flatness");
    for (const Words& words : frame.words) words.expect_intact_guard("words");
  }
}

/// A plane smoothed where it is flat: a gaussian of sigma 1 counts as much as flatness.
Grid smoothed(Guarded& plane, const Grid& flat) {
  const Grid in = oracle::grid_of(plane.view()), smooth = oracle::smooth(in, oracle::gaussian_taps(1));
  return oracle::tabulate(in.size,
                          [&](int x, int y) { return std::lerp(in(x, y), smooth(x, y), flat(x, y)); });
}

/// Byte of a derivative before it is rounded: quarters from -32 on, reflected at both ends of the range.
double gradient_byte(double derivative) {
  const double code = std::fmod(4 * derivative + 128.5 + 512 * 10, 512);
  return (code < 256 ? code : 512 - code) - 0.5;
}

/// Compares the words of a frame with others and with the oracle's, but for values next to a decision.
void expect_words(TestFrame& frame, TestFrame& reference, const std::string& what) {
  constexpr double rounded = 0.5 + 5e-4;
  const Grid flat = oracle::grid_of(frame.flatness.view());
  std::vector<Grid> planes;
  for (Guarded& plane : frame.planes) planes.push_back(smoothed(plane, flat));
  const Grid& luma = planes[0];
  each_pixel(flat.size, what, [&](int x, int y) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(frame.words[i].view()(x, y), reference.words[i].view()(x, y));
    const auto word = [&](int i) { return frame.words[i].view()(x, y); };
    const std::uint32_t color = word(0), gradient = word(1), census = word(2);
    ASSERT_EQ((color | gradient) >> 24, 0u);
    for (std::size_t i = 0; i < 3; ++i) {
      const Grid& plane = planes[planes.size() == 1 ? 0 : 1 + i];
      ASSERT_NEAR(color >> 8 * i & 255, std::clamp(plane(x, y), 0.0, 255.0), rounded);
      ASSERT_NEAR(gradient >> 8 * i & 255, gradient_byte(oracle::central_difference(plane, x, y)), rounded);
    }
    ASSERT_NEAR(census >> 24, 4 * (1 - flat(x, y)), rounded);
    const std::vector<bool> bits = oracle::census(luma, x, y);
    for (int i = 0, window = 0; i < 24; ++i, ++window) {
      if (window == 12) ++window;  // the pixel itself
      const int nx = x + window % 5 - 2, ny = y + window / 5 - 2;
      const bool is_exact = flat(x, y) == 0 && flat(nx, ny) == 0;
      if (!is_exact && std::abs(luma(nx, ny) - luma(x, y)) < 2e-4) continue;
      ASSERT_EQ(census >> (23 - i) & 1, unsigned(bits[std::size_t(i)])) << "bit " << i;
    }
  });
}

class Flatness : public OnTarget {};

TEST_P(Flatness, AgreesWithTheOracle) {
  for (const Size size : sizes) {
    Frames frames = frames_of(size, false, 2), reference = frames_of(size, false, 2);
    run(GetParam(), frames, Step::find);
    run(reference_target(), reference, Step::find);
    for (std::size_t i = 0; i < 2; ++i) {
      const Grid expected = oracle::flatness(oracle::grid_of(frames[i].planes[0].view()));
      each_pixel(size, text_of(size), [&](int x, int y) {
        const float flatness = frames[i].flatness.view()(x, y);
        ASSERT_EQ(flatness, reference[i].flatness.view()(x, y));
        ASSERT_NEAR(flatness, expected(x, y), i == 0 ? 1e-5 : 1e-4);
      });
    }
  }
}

TEST_P(Flatness, OfKnownImages) {
  const auto flatness_of = [&](auto value) {
    Frames frames = frames_of({70, 40}, false, 1);
    draw(frames[0].planes[0], value);
    run(GetParam(), frames, Step::find);
    return oracle::grid_of(frames[0].flatness.view());
  };
  constexpr int edge = 30;  // last column before an edge
  const Grid constant = flatness_of([](int, int) { return 83.0f; }),
             texture = flatness_of([](int x, int y) { return (x + y) % 2 ? 30.0f : 10.0f; }),
             step = flatness_of([=](int x, int) { return x <= edge ? 100.0f : 120.0f; });
  each_pixel(constant.size, "", [&](int x, int y) {
    ASSERT_EQ(constant(x, y), 1);
    ASSERT_EQ(texture(x, y), 0);
    const int distance = std::abs(x - edge);
    ASSERT_EQ(step(x, y), step(edge + distance, y));
    ASSERT_LE(step(x, y), step(edge + distance + 1, y));
    ASSERT_TRUE(distance > 8 ? step(x, y) == 1 : distance > 0 || step(x, y) == 0);
  });
  EXPECT_TRUE(step(edge + 4, 20) > 0 && step(edge + 4, 20) < 1) << step(edge + 4, 20);
}

/// Weights are 0 to 4. Words of flatness 0 have the bits of those without a plane of flatness.
TEST_P(Flatness, WordsAgreeWithTheOracle) {
  enum Kind { none, zero, mixed };
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{5, 6}, Size{33, 17}, Size{210, 67}})
    for (const Kind kind : {none, zero, mixed})
      for (const int variant : {0, 1, 2, 3}) {
        const std::string what = text_of(size) + ", case " + std::to_string(4 * kind + variant);
        const auto make = [&](const Target& target, Kind used) {
          Frames frames = frames_of(size, variant % 2, 1 + variant / 2);
          for (TestFrame& frame : frames)
            draw(frame.flatness, [=](int x, int y) {  // tiles of 0, of 1 and of all values
              const int tile = used == mixed ? (x / 40 + y / 20) % 3 : 2;
              return tile == 0 ? float((7 * x + 11 * y) % 65) / 64 : tile == 1 ? 1 : 0;
            });
          run(target, frames, used == none ? Step::mix_texture : Step::mix);
          return frames;
        };
        Frames frames = make(GetParam(), kind);
        Frames reference = make(reference_target(), kind == zero ? none : kind);
        for (std::size_t i = 0; i < frames.size(); ++i) {
          expect_words(frames[i], reference[i], what);
          if (HasFatalFailure()) return;
        }
      }
}

INSTANTIATE_TEST_SUITE_P(Targets, Flatness, every_target(), target_name);

}  // namespace
}  // namespace parafield
