// SPDX-License-Identifier: MIT
// Whether coarse matches show that flow has missed a motion: the same answer on every target.
#include "steps/matches_on.hpp"

namespace parafield {
namespace {

/// A frame in which a square of `side` px has moved by (u, v).
Image<float> with_square(Size size, int side, int u, int v) {
  const Texture ground(11), front(22);
  Image<float> image(size);
  const int left = size.width / 3, top = size.height / 4;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const int on_x = x - left - u, on_y = y - top - v;
      const bool inside = on_x >= 0 && on_x < side && on_y >= 0 && on_y < side;
      image(x, y) = float(inside ? front(on_x, on_y) : ground(x, y));
    }
  return image;
}

/// The answer for flow from frame `from` (0 or 1) to the other.
int missed_on(const Target& target, const Image<float>& frame0, const Image<float>& frame1,
              const std::vector<float>& u, const std::vector<float>& v, int from = 0) {
  const Forced forced(target);
  const Device device = target.device(2);
  const Size size = frame0.size();
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    MatchedPair<Backend> pair(backend, frame0, frame1, {});
    Workspace& workspace = pair.workspace;
    const View<float> flow_u = stored(backend, workspace, size, u),
                      flow_v = stored(backend, workspace, size, v);
    int* const counts = workspace.array<int>(std::size_t(std::max(size.height, 2)));
    int* const missed = workspace.array<int>(1);
    backend.replay({}, [&] {
      pair.prepare();
      pair.matcher.describe_coarse(pair.pyramids, 0, 2);
      find_missed(backend, pair.matcher.find_coarse(from, 1 - from),
                  {from, pair.matcher.coarse_level(), flow_u, flow_v}, counts, {missed});
    });
    int answer = -1;
    copy_to_host(backend, &answer, missed, sizeof answer);
    return answer;
  });
}

class MissedOnTarget : public OnTarget {
 protected:
  static int missed(const Image<float>& frame0, const Image<float>& frame1, float u, float v, int from = 0) {
    const auto pixels = std::size_t(frame0.size().width) * std::size_t(frame0.size().height);
    return missed_on(GetParam(), frame0, frame1, std::vector(pixels, u), std::vector(pixels, v), from);
  }
};

TEST_P(MissedOnTarget, WhatMovesFarIs) {
  const Size size{320, 240};
  const Image<float> before = with_square(size, 96, 0, 0), after = with_square(size, 96, 40, 24);
  EXPECT_EQ(missed(before, after, 0, 0), 1);
  EXPECT_EQ(missed(before, after, 0, 0, 1), 1) << "back";
  const Image<float> near = with_square(size, 96, 4, -3);
  EXPECT_EQ(missed(before, near, 0, 0), 0) << "within 8 px";
  EXPECT_EQ(missed(before, before, 0, 0), 0);
}

TEST_P(MissedOnTarget, FlowOfTheWholeFrameIsCompared) {
  const Size size{320, 240};
  // All of the frame is the square.
  const Image<float> before = with_square(size, 1000, -200, -200),
                     after = with_square(size, 1000, -180, -188);
  EXPECT_EQ(missed(before, after, 20, 12), 0);
  EXPECT_EQ(missed(before, after, -20, -12, 1), 0) << "back";
  EXPECT_EQ(missed(before, after, 0, 0), 1);
  EXPECT_EQ(missed(before, after, 20, -12), 1);
  for (const float u : {400.0f, 3e38f, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_EQ(missed(before, after, u, 0), 0) << u << " leaves the frame";
}

TEST_P(MissedOnTarget, WithoutTextureNothingIs) {
  Image<float> flat({200, 150});
  for (int y = 0; y < 150; ++y)
    for (int x = 0; x < 200; ++x) flat(x, y) = 50;
  EXPECT_EQ(missed(flat, flat, 30, 0), 0);
  EXPECT_EQ(missed(flat, with_square({200, 150}, 80, 0, 0), 0, 0), 0);
}

TEST_P(MissedOnTarget, AnySize) {
  for (const Size size : {Size{1, 1}, Size{1, 40}, Size{40, 1}, Size{17, 13}, Size{70, 65}, Size{3000, 20}}) {
    const Image<float> before = with_square(size, 1000, -200, -200),
                       after = with_square(size, 1000, -191, -195);
    EXPECT_EQ(missed(before, after, 0, 0),
              missed_on(reference_target(), before, after,
                        std::vector<float>(std::size_t(size.width) * std::size_t(size.height)),
                        std::vector<float>(std::size_t(size.width) * std::size_t(size.height))))
        << size.width << "x" << size.height;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MissedOnTarget, every_target(), target_name);

}  // namespace
}  // namespace parafield
