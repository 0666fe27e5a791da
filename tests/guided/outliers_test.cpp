// SPDX-License-Identifier: MIT
// Outliers among neighboring tracks: every target against the oracle, on random flows.
#include "guided/features/tracks.hpp"

#include "oracle/feature_tracking.hpp"
#include "steps/guarded.hpp"

namespace parafield {
namespace {

class Outliers : public OnTarget {
 protected:
  /// Tracks of a grid's cells without outliers.
  static std::vector<Track> kept(const FeatureGrid& grid, const std::vector<Track>& tracks, float outliers) {
    Guarded from({4 * grid.count(), 1}), to({4 * grid.count(), 1});
    std::memcpy(from.view().data, tracks.data(), tracks.size() * sizeof(Track));
    run_on(GetParam(), {&from, &to}, [&]<class Backend>(Backend& backend) {
      drop_outliers<Backend>(backend, reinterpret_cast<const Track*>(from.view().data), grid, outliers,
                             reinterpret_cast<Track*>(to.view().data));
    });
    to.expect_intact_guard("tracks");
    std::vector<Track> result(tracks.size());
    std::memcpy(result.data(), to.view().data, tracks.size() * sizeof(Track));
    return result;
  }
};

TEST_P(Outliers, RandomFlows) {
  std::mt19937 random(31);
  for (const auto& [columns, rows] : {std::pair{1, 1}, {2, 1}, {1, 7}, {3, 3}, {40, 30}})
    for (const float outliers : {0.5f, 1.5f, 3.0f})
      for (const unsigned share_dropped : {0u, 30u, 80u}) {
        const FeatureGrid grid{10 * columns, 10 * rows, columns, rows};
        std::vector<Track> tracks;
        std::vector<oracle::TrackedFeature> expected;
        for (int i = 0; i < grid.count(); ++i) {
          const auto value = [&](float most) { return most * (float(random() % 20001) / 10000 - 1); };
          const float most = random() % 4 == 0 ? 20.0f : 1.0f;
          Track track{float(i % columns), float(i / columns), value(most), value(most)};
          auto& feature = expected.emplace_back();
          if (random() % 100 < share_dropped)
            track.u = track.v = std::numeric_limits<float>::quiet_NaN();
          else
            feature.flow = {track.u, track.v};
          tracks.push_back(track);
        }
        oracle::drop_outliers(expected, columns, rows, outliers);
        const auto found = kept(grid, tracks, outliers);
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].x, tracks[i].x);
          EXPECT_EQ(found[i].y, tracks[i].y);
          if (expected[i].margin < 1e-5) continue;
          ASSERT_EQ(std::isfinite(found[i].u), expected[i].flow.has_value())
              << columns << "x" << rows << ", " << outliers << ": " << i;
          ASSERT_EQ(std::isfinite(found[i].v), expected[i].flow.has_value());
          if (!expected[i].flow) continue;
          EXPECT_EQ(found[i].u, tracks[i].u);
          EXPECT_EQ(found[i].v, tracks[i].v);
        }
      }
}

TEST_P(Outliers, FewNeighborsDecideNothing) {
  const FeatureGrid grid{20, 10, 2, 1};
  const auto found = kept(grid, {{0, 0, 0, 0}, {1, 0, 100, 0}}, 3);
  EXPECT_EQ(found[1].u, 100);
  const FeatureGrid three{30, 10, 3, 1};
  const auto among_three = kept(three, {{0, 0, 0, 0}, {1, 0, 100, 0}, {2, 0, 0.1f, 0}}, 3);
  EXPECT_TRUE(std::isnan(among_three[1].u));
  EXPECT_EQ(among_three[0].u, 0);  // it sees two
}

INSTANTIATE_TEST_SUITE_P(Targets, Outliers, every_target(), target_name);

}  // namespace
}  // namespace parafield
