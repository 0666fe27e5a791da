// SPDX-License-Identifier: MIT
// Motion detection against a learned background.
#include "oracle/background.hpp"

#include <cmath>
#include <random>

#include "io/folder.hpp"
#include "markov/background/state.hpp"
#include "markov/eventful_scene.hpp"
#include "markov/passing_scene.hpp"
#include "parafield/parafield.hpp"
#include "support.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class BackgroundOn : public OnDevice {
 protected:
  /// A gray frame of value(x, y), in the device's memory.
  template <class Value>
  FrameBuffer frame(Size size, Value value) {
    FrameBuffer image(size, PixelFormat::gray_u8);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        static_cast<std::uint8_t*>(image.row(y))[x] = std::uint8_t(value(x, y));
    return image;
  }
  template <class Method = Icm<BackgroundEnergy>>
  MotionDetector detector(Size size, const Method& method = {}) {
    return MotionDetector(method, size, {.device = device()});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, BackgroundOn, every_device(), device_name);

int moving_pixels(const MotionMask& mask) {
  int count = 0;
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) count += mask.moving(x, y);
  return count;
}

TEST_P(BackgroundOn, FollowsTheOracle) {
  int shifted = 0, two_gains = 0, colored = 0;
  for (const bool color : {false, true})
    for (const Size size : {Size{37, 23}, Size{64, 5}, Size{1, 40}, Size{139, 67}}) {
      const EventfulScene scene(size, color, size.width > 100);
      const WinnerTakesAll<BackgroundEnergy> method{{.least_spread = 2, .renewal = 3, .absorb = 9}};
      MotionDetector found = detector(size, method);
      std::optional<oracle::LearnedBackground> expected;
      for (int t = 0; t < 90; ++t) {
        const FrameBuffer image = scene(t);
        const MotionMask* mask = found.push(image);
        if (!mask) {
          expected.emplace(method.energy, image);
          continue;
        }
        std::vector<int> labels;
        for (const double difference : expected->differences(image))
          labels.push_back(std::abs(difference - method.energy.mean) < difference);
        const std::vector<int> moved = expected->in_frame(labels);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            ASSERT_EQ(int(mask->moving(x, y)), moved[std::size_t(y) * size.width + x])
                << size.width << "x" << size.height << (color ? ", color" : ", gray") << ", frame " << t
                << " at " << x << ", " << y;
        shifted += expected->is_shifted();
        two_gains += expected->has_two_gains();
        colored += expected->is_colored();
        expected->learn(labels);
      }
    }
  EXPECT_GT(shifted, 20);
  EXPECT_GT(two_gains, 20);
  EXPECT_GT(colored, 100);
}

TEST_P(BackgroundOn, WhatStopsStaysUntilItIsAbsorbedAndTheBackgroundIsKnownWhenItLeaves) {
  const Size size{60, 40};
  Icm<BackgroundEnergy> method;
  method.energy.absorb = 50;
  MotionDetector found = detector(size, method);
  const auto seen = [&](int t, bool thing) {
    const MotionMask* mask = found.push(frame(size, [&](int x, int y) {
      return thing && x >= 20 && x < 40 && y >= 10 && y < 30 ? 220 : ground(x, y, t);
    }));
    return mask ? moving_pixels(*mask) : 0;
  };
  for (int t = 0; t < 300; ++t) EXPECT_LT(seen(t, false), 5) << t;
  for (int t = 300; t < 349; ++t) EXPECT_NEAR(seen(t, true), 400, 20) << t;
  for (int t = 349; t < 360; ++t) seen(t, true);
  EXPECT_LT(seen(360, true), 20);
  for (int t = 361; t < 370; ++t) EXPECT_LT(seen(t, false), 20) << t;
}

TEST_P(BackgroundOn, WhatStopsStaysThoughTheBackgroundIsYoungAndWhatLeavesDoesNot) {
  const Size size{80, 60};
  Icm<BackgroundEnergy> method;
  method.energy.absorb = 60000;
  for (const int stop : {5, 10, 30, 45}) {
    MotionDetector stays = detector(size, method), leaves = detector(size, method);
    int staying = 0, left = 0;
    for (int t = 0; t < 250; ++t) {
      const auto thing = [&](int left) {
        return frame(size, [&](int x, int y) {
          return x >= left && x < left + 20 && y >= 20 && y < 40 ? 220 : ground(x, y, t);
        });
      };
      const int steps = std::min(t, stop) - stop;  // it stops after `stop` frames
      if (const MotionMask* mask = stays.push(thing(30 + 10 * steps))) staying = moving_pixels(*mask);
      if (t > stop + 30) {
        EXPECT_NEAR(staying, 400, 20) << stop << ", " << t;
      }
      if (const MotionMask* mask = leaves.push(thing(30 + 10 * std::max(t - stop, 0))))
        left = moving_pixels(*mask);
    }
    EXPECT_LT(left, 40) << stop;
  }
}

TEST_P(BackgroundOn, LightThatChangesInAPartOfTheSceneDoesNotMove) {
  const Size size{80, 60};
  for (const double light : {1.4, 0.6, 1.0})
    for (const int from : {0, 30, 50}) {
      MotionDetector found = detector(size);
      for (int t = 0; t < 120; ++t) {
        const MotionMask* mask = found.push(frame(size, [&](int x, int y) {
          const double value = 60 + (x * 7 + y * 5) % 64 + (x * 31 + y * 17 + t * 29) % 5;
          return t < 100 || x < from ? value : light == 1 ? value + 30 : light * value;
        }));
        if (mask && t > 1) {
          EXPECT_LT(moving_pixels(*mask), light == 1 && from > 0 ? 80 * 60 * 6 / 10 : 80 * 60 / 50)
              << light << ", from column " << from << ", frame " << t;
        }
      }
    }
}

TEST_P(BackgroundOn, StrongNoiseDoesNotMoveAndHidesNoObject) {
  const Size size{160, 120};
  MotionDetector found = detector(size);
  std::mt19937 random(1);
  for (int t = 0; t < 80; ++t) {
    const bool thing = t >= 60;
    const MotionMask* mask = found.push(frame(size, [&](int x, int y) {
      double noise = 0;  // standard deviation 10
      for (int i = 0; i < 12; ++i) noise += 10 * (double(random() % 1024) / 1024 - 0.5);
      const bool inside = thing && x >= 60 && x < 100 && y >= 40 && y < 80;
      return std::clamp((inside ? 200 : 60 + (x * 7 + y * 5) % 64) + noise, 0.0, 254.0);
    }));
    if (!mask) continue;
    if (!thing) {
      EXPECT_LT(moving_pixels(*mask), 160 * 120 / 50) << t;
    } else {
      EXPECT_NEAR(moving_pixels(*mask), 1600, 160) << t;
    }
  }
}

TEST_P(BackgroundOn, AnotherViewIsLearnedInAFewFrames) {
  const Size size{60, 40};
  MotionDetector found = detector(size);
  int moving = 0;
  for (int t = 0; t < 420; ++t) {
    const MotionMask* mask = found.push(frame(size, [&](int x, int y) {
      return t < 400 ? ground(x, y, t) : (x / 6 + y / 6) % 2 ? 200 : 50;
    }));
    if (mask) moving = moving_pixels(*mask);
    if (t == 400) {
      EXPECT_GT(moving, 60 * 40 / 2);
    }
  }
  EXPECT_LT(moving, 60 * 40 / 20);
}

TEST_P(BackgroundOn, APairLearnsFromItsFirstFrameAndResetForgets) {
  const Size size{60, 40};
  MotionDetector pushed = detector(size), called = detector(size);
  const auto at = [&](int t) {
    return frame(size, [&](int x, int y) {
      return std::abs(x - 10 - 5 * t) < 6 && y > 8 && y < 30 ? 210 : ground(x, y, t);
    });
  };
  for (int t = 0; t < 5; ++t) pushed.push(at(t));
  pushed.reset();
  EXPECT_EQ(pushed.push(at(5)), nullptr);
  const MotionMask& mask = *pushed.push(at(6));
  const MotionMask& expected = called(at(5), at(6));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      EXPECT_EQ(mask.moving(x, y), expected.moving(x, y));
      EXPECT_EQ(mask.confidence(x, y), expected.confidence(x, y));
    }
}

TEST_P(BackgroundOn, PixelsWithoutAValueAreNotValidAndLearnNothing) {
  const Size size{32, 20};
  MotionDetector found = detector(size);
  for (int t = 0; t < 40; ++t) {
    FrameBuffer image(size, PixelFormat::gray_f32);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        reinterpret_cast<float*>(image.row(y))[x] = x < 5 && t > 10 && t < 30 ? NAN : float(ground(x, y, t));
    image.set_range({0, 255});
    const MotionMask* mask = found.push(image);
    if (!mask) continue;
    EXPECT_EQ(int(mask->valid(2, 7)), !(t > 10 && t < 30)) << t;
    EXPECT_EQ(int(mask->valid(9, 7)), 1);
    EXPECT_EQ(moving_pixels(*mask), 0) << t;
  }
}

void expect_equal(const MotionMask& mask, const MotionMask& expected) {
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) {
      ASSERT_EQ(mask.moving(x, y), expected.moving(x, y));
      ASSERT_EQ(mask.confidence(x, y), expected.confidence(x, y));
      ASSERT_EQ(mask.valid(x, y), expected.valid(x, y));
    }
}

TEST_P(BackgroundOn, ASavedBackgroundGoesOnWhereItWasOnAnyDevice) {
  const Size size{77, 41};
  const Icm<BackgroundEnergy> method;
  MotionDetector whole = detector(size, method);
  for (int t = 0; t < 50; ++t) whole.push(passing(size, t));
  const Folder folder;
  write_background(folder / "background", whole.background());
  const auto saved = std::make_shared<LearnedBackground>(read_background(folder / "background"));
  EXPECT_EQ(saved->method, "icm-background");
  EXPECT_EQ(saved->size, size);
  EXPECT_EQ(saved->state, whole.background().state);
  MotionDetector later(method, size, {.device = device(), .background = saved});
  MotionDetector on_cpu(method, size, {.device = Device::cpu(1), .background = saved});
  EXPECT_EQ(later.push(passing(size, 49)), nullptr);
  on_cpu.push(passing(size, 49));
  for (int t = 50; t < 70; ++t) {
    const MotionMask& mask = *later.push(passing(size, t));
    expect_equal(mask, *whole.push(passing(size, t)));
    expect_equal(mask, *on_cpu.push(passing(size, t)));
  }
  EXPECT_EQ(later.background().state, whole.background().state);
  later.reset();  // back to the saved background
  EXPECT_THROW(later.background(), Error);
  MotionDetector called(method, size, {.device = device(), .background = saved});
  later.push(passing(size, 0));
  expect_equal(*later.push(passing(size, 50)), called(passing(size, 0), passing(size, 50)));
}

TEST_P(BackgroundOn, ColorsAreSavedAndAnyNumberOfThreadsGivesTheSameBits) {
  const Size size{139, 67};
  const EventfulScene scene(size, true, true);
  const Icm<BackgroundEnergy> method{{.absorb = 30}};
  MotionDetector whole = detector(size, method), one(method, size, {.device = Device::cpu(1)}),
                 two(method, size, {.device = Device::cpu(2)});
  for (int t = 0; t < 60; ++t) {
    const MotionMask* const mask = whole.push(scene(t));
    const MotionMask *const single = one.push(scene(t)), *const both = two.push(scene(t));
    if (!mask) continue;
    expect_equal(*mask, *single);
    expect_equal(*mask, *both);
    ASSERT_EQ(whole.background().state, two.background().state) << t;
  }
  const auto saved = std::make_shared<LearnedBackground>(whole.background());
  const std::size_t pixels = std::size_t(size.width * size.height);
  EXPECT_EQ(saved->state.size() / pixels, 63u);
  MotionDetector later(method, size, {.device = device(), .background = saved}),
      on_cpu(method, size, {.device = Device::cpu(2), .background = saved});
  later.push(scene(59));
  on_cpu.push(scene(59));
  for (int t = 60; t < 90; ++t) {
    const MotionMask& mask = *later.push(scene(t));
    expect_equal(mask, *whole.push(scene(t)));
    expect_equal(mask, *on_cpu.push(scene(t)));
  }
}

TEST_P(BackgroundOn, GrayVideosTakeLessMemoryAndColorsCountNothingInThem) {
  const Size size{77, 41};
  Icm<BackgroundEnergy> method, gray;
  gray.energy.rgb = false;
  MotionDetector found = detector(size, method), expected = detector(size, gray);
  EXPECT_LT(expected.workspace_bytes(), found.workspace_bytes());
  for (int t = 0; t < 60; ++t) {
    const MotionMask *const mask = found.push(passing(size, t)), *const other =
                                                                     expected.push(passing(size, t));
    if (mask) expect_equal(*mask, *other);
  }
  EXPECT_EQ(found.background().state, expected.background().state);
  EXPECT_EQ(found.background().state.size() / std::size_t(size.width * size.height), 27u);
}

TEST_P(BackgroundOn, ShadowsAreStaticOnlyIfTheyKeepTheColor) {
  const Size size{96, 64};
  const auto moving_at_the_end = [&](const Icm<BackgroundEnergy>& method, double red) {
    MotionDetector found = detector(size, method);
    int moving = 0;
    for (int t = 0; t < 80; ++t) {
      FrameBuffer image(size, PixelFormat::rgb_u8);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const bool dark = t >= 60 && x > 30 && x < 60 && y > 15 && y < 50;
          const double value = ground(x, y, t), factor = dark ? 0.75 : 1;
          auto* const pixel = static_cast<std::uint8_t*>(image.row(y)) + 3 * x;
          pixel[0] = std::uint8_t(factor * 1.3 * value * (dark ? red : 1));
          pixel[1] = std::uint8_t(factor * value);
          pixel[2] = std::uint8_t(factor * 0.7 * value);
        }
      if (const MotionMask* mask = found.push(image)) moving = moving_pixels(*mask);
    }
    return moving;
  };
  Icm<BackgroundEnergy> drops, keeps;
  keeps.energy.shadows = Shadows::keep;
  EXPECT_LT(moving_at_the_end(drops, 1), 100);
  EXPECT_GT(moving_at_the_end(keeps, 1), 900);
  EXPECT_GT(moving_at_the_end(drops, 0.6), 900) << "another color";
}

TEST_P(BackgroundOn, ShiftsOfTheCameraAreCompensatedFor) {
  const Size size{160, 120};
  const Scene scene = render_scene("square", {.size = size, .frames = 80, .conditions = Conditions::shaking});
  Icm<BackgroundEnergy> with, without;
  without.energy.shift = false;
  MotionDetector found = detector(size, with), other = detector(size, without);
  int wrong = 0, more = 0;
  for (int t = 0; t < 80; ++t) {
    const MotionMask *const mask = found.push(scene.frames[std::size_t(t)]),
                            *const plain = other.push(scene.frames[std::size_t(t)]);
    for (int y = 0; t >= 30 && y < size.height; ++y)  // after the objects of the first frame have left
      for (int x = 0; x < size.width; ++x) {
        const bool truth = scene.moving[std::size_t(t) - 1](x, y) != 0;
        wrong += mask->moving(x, y) != truth;
        more += plain->moving(x, y) != truth;
      }
  }
  EXPECT_LT(4 * wrong, 3 * more);
}

TEST_P(BackgroundOn, AFrozenBackgroundLearnsNothing) {
  const Size size{60, 40};
  Icm<BackgroundEnergy> method;
  method.energy.absorb = 5;
  const auto seen = [&](int t, bool thing) {
    return frame(size, [&](int x, int y) {
      return thing && x >= 20 && x < 40 && y >= 10 && y < 30 ? 220 : ground(x, y, t);
    });
  };
  MotionDetector learning = detector(size, method);
  for (int t = 0; t < 20; ++t) learning.push(seen(t, false));
  const auto learned = std::make_shared<LearnedBackground>(learning.background());
  MotionDetector frozen(method, size, {.device = device(), .freeze = true, .background = learned});
  for (int t = 0; t < 60; ++t)
    if (const MotionMask* mask = frozen.push(seen(t, t > 10))) {
      EXPECT_NEAR(moving_pixels(*mask), t > 10 ? 400 : 0, 20) << t;
    }
  EXPECT_EQ(frozen.background().state.size(), learned->state.size());
  MotionDetector first(method, size, {.device = device(), .freeze = true});  // against the first frame
  for (int t = 0; t < 60; ++t)
    if (const MotionMask* mask = first.push(seen(t, t > 10))) {
      EXPECT_NEAR(moving_pixels(*mask), t > 10 ? 400 : 0, 20) << t;
    }
}

TEST_P(BackgroundOn, OnlyTheRegionIsDetectedByEveryMethod) {
  const Size size{77, 41};
  auto region = std::make_shared<Image<std::uint8_t>>(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) (*region)(x, y) = x > 30 && y > 3 ? 255 : 0;
  for (const DetectionMethod& method :
       {DetectionMethod(Icm<BackgroundEnergy>{}), DetectionMethod(Annealing<BackgroundEnergy>{.sweeps = 3}),
        DetectionMethod(Icm<ChangeEnergy>{}), DetectionMethod(Icm<ChangeEnergy>{{.rgb = true}})}) {
    MotionDetector found(method, size, {.device = device(), .region = region});
    int inside = 0;
    for (int t = 0; t < 60; ++t) {
      const MotionMask* mask = found.push(passing(size, 5 * t));
      if (!mask) continue;
      inside += moving_pixels(*mask);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          ASSERT_EQ(int(mask->valid(x, y)), int(x > 30 && y > 3));
          if ((*region)(x, y) == 0) {
            ASSERT_EQ(int(mask->moving(x, y)), 0);
          }
        }
    }
    EXPECT_GT(inside, 100);
  }
  EXPECT_THROW(MotionDetector({}, {10, 10}, {.device = device(), .region = region}), Error);
}

}  // namespace
}  // namespace parafield
