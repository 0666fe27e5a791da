// SPDX-License-Identifier: MIT
// The comparison of kernels' arguments that builds with PARAFIELD_CHECK_REPLAYS make.
#include "core/cuda/recorded_launch.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <new>

#include "parafield/image.hpp"

namespace parafield {
namespace {

#if __has_builtin(__builtin_clear_padding)

struct Inner {
  char kind;
  double values[2];
  bool last;
};
struct Padded {
  Inner inner[2];
  View<float> views[4];
  std::int16_t count;
};

/// Calls f with a value whose padding is filled with `byte`.
template <class F>
void with_padding(int byte, F f) {
  alignas(Padded) unsigned char storage[sizeof(Padded)];
  std::memset(storage, byte, sizeof storage);
  Padded& value = *reinterpret_cast<Padded*>(storage);
  for (Inner& inner : value.inner) {
    inner.kind = 'a';
    inner.values[0] = 1, inner.values[1] = std::numeric_limits<double>::quiet_NaN();
    inner.last = true;
  }
  for (View<float>& view : value.views) {
    view.data = nullptr;
    view.width = 3, view.height = 4, view.pitch = 64;
  }
  value.count = 7;
  f(value);
}

TEST(RecordedLaunch, PaddingDoesNotCount) {
  with_padding(0x00, [](const Padded& a) {
    with_padding(0xff, [&](const Padded& b) {
      ASSERT_NE(std::memcmp(&a, &b, sizeof a), 0);
      EXPECT_TRUE(same_bits(a, b));
    });
  });
}

TEST(RecordedLaunch, EveryFieldCounts) {
  float value = 0;
  with_padding(0, [&](const Padded& a) {
    const auto differs = [&](auto change) {
      Padded b = a;
      change(b);
      return !same_bits(a, b);
    };
    EXPECT_TRUE(differs([](Padded& b) { b.inner[1].kind = 'b'; }));
    EXPECT_TRUE(differs([](Padded& b) { b.inner[0].values[1] = 0; }));
    EXPECT_TRUE(differs([](Padded& b) { b.inner[1].last = false; }));
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(differs([&](Padded& b) { b.views[i].data = &value; }));
      EXPECT_TRUE(differs([&](Padded& b) { b.views[i].width = 4; }));
      EXPECT_TRUE(differs([&](Padded& b) { b.views[i].height = 5; }));
      EXPECT_TRUE(differs([&](Padded& b) { b.views[i].pitch = 65; }));
    }
    EXPECT_TRUE(differs([](Padded& b) { b.count = -7; }));
    EXPECT_FALSE(differs([](Padded&) {}));
  });
  EXPECT_FALSE(same_bits(0.0f, -0.0f)) << "the kernel may tell them apart";
}

TEST(RecordedLaunch, AConditionHasItsHandleOnlyWhileItIsRecorded) {
  int value = 0, other = 0;
  EXPECT_TRUE(same_bits(Condition{&value, 5}, Condition{&value}));
  EXPECT_FALSE(same_bits(Condition{&value, 5}, Condition{&other, 5}));
}

TEST(RecordedLaunch, SaysWhichArgumentDiffers) {
  const std::tuple recorded(1, 2.5f, true);
  EXPECT_EQ(first_difference(recorded, recorded), 3u);
  EXPECT_EQ(first_difference(recorded, std::tuple(1, 2.5f, false)), 2u);
  EXPECT_EQ(first_difference(recorded, std::tuple(1, 3.5f, false)), 1u);
  EXPECT_EQ(first_difference(recorded, std::tuple(0, 2.5f, true)), 0u);
  EXPECT_EQ(first_difference(std::tuple<>(), std::tuple<>()), 0u);
}

#endif

}  // namespace
}  // namespace parafield
