// SPDX-License-Identifier: MIT
// The CUDA kernels of a learned background, run by emulated threads: they give the masks and the background
// of the CPU, whatever the order of the threads.
#include <gtest/gtest.h>

#include "core/workspace.hpp"
#include "emulated/emulated_cuda.hpp"
#include "markov/background/decide.hpp"
#include "markov/background/learn.hpp"
#include "markov/background/shadow.hpp"
#include "markov/background/state.hpp"
#include "markov/eventful_scene.hpp"
#include "parafield/detection.hpp"

namespace parafield {
namespace {

/// Winner-takes-all with the emulated kernels, in the order of BackgroundSolver.
class EmulatedBackground {
 public:
  EmulatedBackground(const BackgroundEnergy& energy, Size size, ThreadOrder order)
      : energy_(energy), cuda_(order), state_(padded(size), true), size_(size) {
    background_ = {.size = size,
                   .rows = part(state_.rows, size.width),
                   .words = part(state_.words, size.width),
                   .numbers = state_.numbers.view(),
                   .sums = sums_.view(),
                   .tile_votes = votes_.view(),
                   .tiles = tiles_.view(),
                   .colors = true,
                   .least_spread = int(spread_unit * energy.least_spread + 0.5f),
                   .renewal = energy.renewal,
                   .absorb = energy.absorb};
    model_.mean = energy.mean;
    model_.weight = 1 / (energy.sigma * energy.sigma);
    model_.step = 3 * energy.mean / top_difference;
    model_.scale = spread_unit / model_.step;
    model_.pair = 2 * energy.beta;
    frame_ = {luma_.view(), blue_.view(), red_.view()};
    room_.words = words_.view();
  }

  void begin(const Frame& frame) {
    frame_bytes(cuda_, &frame, &frame_, 1);
    begin_background(cuda_, frame_, background_);
  }
  void detect(const Frame& frame, MotionMask& result) {
    frame_bytes(cuda_, &frame, &frame_, 1);
    find_shift(cuda_, frame_.luma, background_);
    find_gain(cuda_, frame_.luma, background_);
    choose_gains(cuda_, frame_.luma, background_);
    compare_background(cuda_, frame_, background_, model_);
    drop_shadows(cuda_, background_, model_);
    decide_background(cuda_, background_, model_, room_);
    const BinaryLabels labels = first_labels(room_);
    background_mask(cuda_, background_, model_, labels, result.moving.view(),
                    {result.valid.view(), result.confidence.view()});
    vote_on_ghosts(cuda_, background_, labels);
    learn_background(cuda_, background_, labels);
  }
  std::vector<std::uint8_t> packed() const {
    BackgroundState state(size_, true);
    const auto take = [&]<class T>(Image<T>& to, const View<T>& from) {
      for (int y = 0; y < to.size().height; ++y)
        for (int x = 0; x < to.size().width; ++x) to(x, y) = from(x, y);
    };
    take(state.rows, background_.rows);
    take(state.words, background_.words);
    take(state.numbers, background_.numbers);
    return packed_background(state);
  }

 private:
  static Size padded(Size size) { return {(size.width + 31) / 32 * 32, size.height}; }
  template <class T>
  static View<T> part(Image<T>& image, int width) {
    View<T> view = image.view();
    view.width = width;
    return view;
  }

  BackgroundEnergy energy_;
  EmulatedCuda cuda_;
  BackgroundState state_;
  Size size_;
  Image<long long> sums_{Size{sum_count, 1}};
  Image<int> votes_{tiles_of(size_)};
  Image<std::uint8_t> tiles_{tiles_of(size_)}, luma_{size_}, blue_{size_}, red_{size_};
  Image<std::uint32_t> words_{Size{(size_.width + 31) / 32, word_planes* size_.height}};
  Background background_;
  BackgroundModel model_;
  FrameBytes frame_;
  BinaryRoom room_;
};

TEST(EmulatedBackgroundKernels, GiveTheMasksAndBackgroundsOfTheCpu) {
  struct Case {
    Size size;
    bool color;
    ThreadOrder order;
  };
  for (const auto& [size, color, order] :
       {Case{{37, 23}, false, ThreadOrder::forward}, Case{{1, 40}, true, ThreadOrder::backward},
        Case{{97, 45}, true, ThreadOrder::random}}) {
    const EventfulScene scene(size, color, size.width > 90);
    const WinnerTakesAll<BackgroundEnergy> method{{.least_spread = 2, .renewal = 3, .absorb = 9}};
    MotionDetector cpu(method, size, {.device = Device::cpu(2)});
    EmulatedBackground emulated(method.energy, size, order);
    MotionMask result = cpu.new_result();
    for (int t = 0; t < 80; ++t) {
      const FrameBuffer frame = scene(t);
      const MotionMask* expected = cpu.push(frame);
      if (!expected) {
        emulated.begin(frame);
        continue;
      }
      emulated.detect(frame, result);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_EQ(result.moving(x, y), expected->moving(x, y)) << "frame " << t << ": " << x << ", " << y;
          ASSERT_EQ(result.valid(x, y), expected->valid(x, y)) << "frame " << t << ": " << x << ", " << y;
          ASSERT_EQ(result.confidence(x, y), expected->confidence(x, y))
              << "frame " << t << ": " << x << ", " << y;
        }
      ASSERT_EQ(emulated.packed(), cpu.background().state)
          << size.width << "x" << size.height << (color ? ", color" : ", gray") << ", frame " << t;
    }
  }
}

}  // namespace
}  // namespace parafield
