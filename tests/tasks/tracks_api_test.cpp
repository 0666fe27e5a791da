// SPDX-License-Identifier: MIT
// find_tracks: its checks, and the memories that frames may be in.
#include "guided/tracks_on.hpp"
#include "noise.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class FindTracks : public OnDevice {
 protected:
  const GuardedFrame frame0_{{90, 60}, PixelFormat::rgb_u8, 3, 0, 12, 0xff},
      frame1_{{90, 60}, PixelFormat::gray_u8, 3, 1.7f, 0, 0xff};
};

TEST_P(FindTracks, AreThoseThatAreKeptInOrderOfCells) {
  for (const FeatureTracking& tracking :
       {FeatureTracking{.features = FeatureChoice::corners, .max_features = 100},
        FeatureTracking{.features = FeatureChoice::matches,
        .max_features = 2000,
        .matching = {.match_check = 3, .match_region = 2}}}) {
    const GridOfTracks all = tracks_on(reference_target(), frame0_, frame1_, tracking);
    std::vector<Track> expected;
    for (const Track& track : all.tracks)
      if (track.u == track.u) expected.push_back(track);
    ASSERT_GT(expected.size(), 20u);
    ASSERT_LT(expected.size(), all.tracks.size());
    const Memory memory = device().kind == Device::Kind::cuda ? Memory::cuda() : Memory::host();
    for (const Memory first : {Memory::host(), memory})
      for (const Memory second : {Memory::host(), memory}) {
        const auto found = find_tracks(copy_of(frame0_, first), copy_of(frame1_, second), tracking, device());
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          EXPECT_EQ(found[i].x, expected[i].x);
          EXPECT_EQ(found[i].y, expected[i].y);
          EXPECT_EQ(found[i].u, expected[i].u);
          EXPECT_EQ(found[i].v, expected[i].v);
        }
      }
  }
}

TEST_P(FindTracks, ChecksWhatItIsGiven) {
  const auto message = [&](const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking) {
    return message_of([&] { find_tracks(frame0, frame1, tracking, device()); });
  };
  const auto expect = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  expect(message(frame0_, frame1_, {.track_window = 4}), "feature tracking: track_window cannot be 4");
  expect(message(frame0_, frame1_, {.track_check = NAN}), "track_check cannot be nan");
  expect(message(frame0_, frame1_, {.matching = {.match_stride = 1}}),
         "match_stride cannot be 1; allowed: 2 to 32");
  expect(message(Frame{}, frame1_, {}), "frame0 has no data");
  Frame small = frame1_;
  small.width = 89;
  expect(message(frame0_, small, {}), "frame1 is 89x60, expected 90x60");
  Frame elsewhere = frame1_;
  elsewhere.memory = Memory::cuda(device().kind == Device::Kind::cuda ? 1 : 0);
  expect(message(frame0_, elsewhere, {}), "frame1 is in the memory of cuda:");
}

INSTANTIATE_TEST_SUITE_P(Devices, FindTracks, every_device(), device_name);

}  // namespace
}  // namespace parafield
