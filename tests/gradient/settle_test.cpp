// SPDX-License-Identifier: MIT
// Matches that settle: the choices of an oracle, the same bits on every target, and known flows.
#include "oracle/settle.hpp"

#include "gradient/settle_on.hpp"

namespace parafield {
namespace {

struct Agreement {
  int compared = 0, clear = 0, changed = 0;  // `changed`: of the clear ones
};

Agreement expect_agreement(const SettleCase& c) {
  oracle::SettlePicture pictures[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto plane = [&](const std::vector<float>& values) {
      return oracle::tabulate(c.size, [&](int x, int y) { return double(values[c.at(x, y)]); });
    };
    for (std::size_t k = 0; k < 3; ++k) pictures[i].colors[k] = plane(c.colors[i][k]);
    pictures[i].luma = plane(c.luma[i]);
  }
  std::vector<std::optional<oracle::SettledMatches::Flow>> matches;
  for (std::size_t i = 0; i < c.valid.size(); ++i) {
    matches.emplace_back();
    if (c.valid[i]) matches.back() = {c.u[i], c.v[i]};
  }
  const oracle::SettledMatches expected(pictures[0], pictures[1], c.stride, matches);
  const Settled found = settle_on(reference_target(), c);
  Agreement agreement;
  EXPECT_EQ(std::size_t(expected.count()), found.u.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    EXPECT_EQ(found.valid[i], matches[i] ? 1 : 0) << "seed " << i;
    if (!matches[i]) continue;
    const auto choice = expected.choose(int(i));
    ++agreement.compared;
    if (!choice.is_clear) continue;
    ++agreement.clear;
    agreement.changed += choice.flow != *matches[i];
    EXPECT_EQ(found.u[i], choice.flow[0]) << "seed " << i;
    EXPECT_EQ(found.v[i], choice.flow[1]) << "seed " << i;
  }
  return agreement;
}

TEST(SettleOracle, Agrees) {
  unsigned seed = 0;
  for (const bool spoiled : {false, true}) {
    Agreement all;
    for (const Size size : {Size{1, 1}, Size{1, 40}, Size{17, 13}, Size{64, 48}, Size{101, 67}})
      for (const int stride : {2, 3, 4, 7})
        for (int i = 0; i < 3; ++i) {
          SCOPED_TRACE(testing::Message()
                       << size.width << "x" << size.height << " stride " << stride << " seed " << seed);
          SettleCase c = settle_case(size, stride, ++seed);
          if (spoiled) spoil(c, 40, seed, false);  // float64 has no such overflow
          const Agreement one = expect_agreement(c);
          all.compared += one.compared, all.clear += one.clear, all.changed += one.changed;
        }
    EXPECT_GT(all.clear, 0.97 * all.compared) << "of " << all.compared;
    EXPECT_GT(all.changed, 0.1 * all.compared) << "of " << all.compared;
    EXPECT_LT(all.changed, 0.5 * all.compared) << "of " << all.compared;
  }
}

class SettleOnTarget : public OnTarget {
 protected:
  static Settled settled(const SettleCase& c) { return settle_on(GetParam(), c); }
};

TEST_P(SettleOnTarget, SameBits) {
  unsigned seed = 100;
  int changed = 0;
  for (const Size size :
       {Size{1, 1}, Size{2, 3}, Size{1, 40}, Size{40, 1}, Size{33, 17}, Size{160, 90}, Size{1100, 9}})
    for (const int stride : {2, 4, 7})
      for (int i = 0; i < 3; ++i) {
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << " stride " << stride << " seed " << seed);
        SettleCase c = settle_case(size, stride, ++seed);
        if (i > 0) spoil(c, i == 1 ? 50 : 3, seed);
        const Settled found = settle_on(GetParam(), c, 1 + int(seed % 4));
        expect_same_settled(settle_on(reference_target(), c, 1), found);
        changed += changes(c, found);
      }
  EXPECT_GT(changed, 500);
}

/// A board of another color than the ground moves. Around its border, seeds have the flow of the other side.
TEST_P(SettleOnTarget, SeedsBesideABorderTakeTheFlowOfTheirSide) {
  for (const int stride : {2, 3, 4}) {
    SettleCase c({120, 100}, stride);
    const auto on_board = [](int x, int y) { return x >= 40 && x < 80 && y >= 30 && y < 70; };
    for (int i = 0; i < 2; ++i)
      for (int y = 0; y < c.size.height; ++y)
        for (int x = 0; x < c.size.width; ++x) {
          const bool board = on_board(x - 10 * i, y + 6 * i);
          const float grain = board ? float(mixed(std::uint32_t(x - 10 * i + 500 * (y + 6 * i))) % 16)
                                    : float(mixed(std::uint32_t(x + 500 * y + 99999)) % 16);
          c.colors[i][0][c.at(x, y)] = (board ? 180 : 60) + grain;
          c.colors[i][1][c.at(x, y)] = (board ? 60 : 110) + grain;
          c.colors[i][2][c.at(x, y)] = 90 + grain;
          c.luma[i][c.at(x, y)] = (board ? 120 : 90) + grain;
        }
    const SeedGrid grid = c.grid();
    std::vector<bool> known;
    int wrong = 0;
    for (int i = 0; i < grid.count(); ++i) {
      const int x = grid.x(i % grid.columns), y = grid.y(i / grid.columns);
      const bool board = on_board(x, y);
      const auto is_covered = [&](int at_x, int at_y) {
        return !on_board(at_x, at_y) && on_board(at_x - 10, at_y + 6);
      };
      bool sees = true;  // whether the ground around is seen in both frames
      for (const int dy : {-4, 0, 4})
        for (const int dx : {-4, 0, 4}) sees &= !is_covered(x + dx, y + dy);
      // Seeds up to 1.5 strides outside the board have the board's flow, and seeds up to 1.5 strides inside
      // have the ground's.
      const int reach = 3 * stride / 2;
      const bool near_board = x >= 40 - reach && x < 80 + reach && y >= 30 - reach && y < 70 + reach;
      const bool inner = x >= 40 + reach && x < 80 - reach && y >= 30 + reach && y < 70 - reach;
      const bool other = near_board && !inner && i % 3 == 0;
      const auto n = std::size_t(i);
      c.u[n] = board != other ? 10 : 0;
      c.v[n] = board != other ? -6 : 0;
      known.push_back(board || sees);
      wrong += known.back() && other;
    }
    const Settled found = settled(c);
    EXPECT_GT(wrong, 20);
    for (int i = 0; i < grid.count(); ++i) {
      const int x = grid.x(i % grid.columns), y = grid.y(i / grid.columns);
      if (!known[std::size_t(i)]) continue;
      ASSERT_EQ(found.u[std::size_t(i)], on_board(x, y) ? 10 : 0) << x << ", " << y;
      ASSERT_EQ(found.v[std::size_t(i)], on_board(x, y) ? -6 : 0) << x << ", " << y;
    }
  }
}

/// If all flows cost the same, each seed keeps its own. A flow that leaves the frame costs more.
TEST_P(SettleOnTarget, FlatFramesKeepFlowInsideTheFrame) {
  SettleCase c({90, 70}, 4);
  const SeedGrid grid = c.grid();
  const int leaving = 10 * grid.columns + 12, neighbor = 8 * grid.columns + 12;
  for (int i = 0; i < grid.count(); ++i) {
    const int x = grid.x(i % grid.columns), y = grid.y(i / grid.columns);
    const bool inner = x >= 20 && x < 70 && y >= 20 && y < 50;
    c.u[std::size_t(i)] = inner ? float((i % 5 - 2) * 4) : 0;
    c.v[std::size_t(i)] = inner ? float((i % 3 - 1) * 4) : 0;
  }
  const Settled kept = settled(c);
  EXPECT_EQ(kept.u, c.u);
  EXPECT_EQ(kept.v, c.v);
  c.u[std::size_t(leaving)] = 500;
  EXPECT_EQ(changes(c, settled(c)), 1);
  for (std::uint8_t& valid : c.valid) valid = 0;
  c.valid[std::size_t(leaving)] = c.valid[std::size_t(neighbor)] = 9;
  const Settled found = settled(c);
  EXPECT_EQ(found.u[std::size_t(leaving)], c.u[std::size_t(neighbor)]);
  EXPECT_EQ(found.v[std::size_t(leaving)], c.v[std::size_t(neighbor)]);
  EXPECT_EQ(found.valid[std::size_t(leaving)], 1);
  EXPECT_EQ(changes(c, found), 1);
  c.valid[std::size_t(neighbor)] = 0;
  EXPECT_EQ(changes(c, settled(c)), 0) << "no other match is there";
}

/// Seeds without a match keep their values, whatever the frames are.
TEST_P(SettleOnTarget, WithoutMatchesNothingChanges) {
  SettleCase c = settle_case({90, 60}, 4, 3);
  for (std::uint8_t& valid : c.valid) valid = 0;
  c.u[5] = 1e30f;
  const Settled found = settled(c);
  EXPECT_EQ(found.u, c.u);
  EXPECT_EQ(found.v, c.v);
  EXPECT_EQ(found.valid, c.valid);
}

TEST_P(SettleOnTarget, AFrameThatIsNotFiniteKeepsAll) {
  for (const int frame : {0, 1}) {
    SettleCase c = settle_case({90, 60}, 4, 7);
    for (float& value : c.colors[frame][1]) value = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(changes(c, settled(c)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, SettleOnTarget, every_target(), target_name);

}  // namespace
}  // namespace parafield
