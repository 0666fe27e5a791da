// SPDX-License-Identifier: MIT
// Colors of frames and of features on every target: they agree with plain loops and have the bits of the
// steps and of the reference target.
#include "steps/colors/colors.hpp"

#include "guided/support/features.hpp"
#include "guided/tracks_on.hpp"
#include "noise.hpp"
#include "not_finite.hpp"
#include "oracle/direct_interpolation.hpp"
#include "parity.hpp"
#include "steps/guarded_colors.hpp"

namespace parafield {
namespace {

class GuidedColors : public OnTarget {};

TEST_P(GuidedColors, MakeColors) {
  constexpr Size frame_sizes[] = {{1, 1}, {1, 9}, {9, 1}, {33, 17}, {101, 67}};
  for (const PixelFormat format : every_format)
    for (const Size size : frame_sizes)
      for (const float sigma : {0.0f, 1.0f, 1.7f, 5.0f})
        for (const int count : {1, 2}) {
          const std::string what = std::string(to_string(format)) + " " + text_of(size) + ", sigma " +
                                   std::to_string(sigma) + ", frames: " + std::to_string(count);
          const GuardedFrame frames[] = {{size, format, 3, 0, 20, 0xff}, {size, format, 3, 2, 8, 0xff}};
          const Taps taps = gaussian_taps(sigma);
          const auto make =
              [&](const Target& target) {  // for each frame: colors, smoothed ones, and both by the steps
                std::vector<Guarded> images;
                for (int i = 0; i < 12 * count; ++i) images.emplace_back(size);
                const Memory memory = target.instruction_set ? Memory::host() : Memory::cuda();
                const FrameBuffer held[] = {copy_of(frames[0], memory), copy_of(frames[1], memory)};
                std::vector<GuardedColors> made;  // for each frame: colors, smoothed ones
                std::vector<Movable*> all;
                for (std::size_t i = 0; i < images.size(); i += 3) {
                  if (i % 12 < 6)
                    made.emplace_back(&images[i]);
                  else
                    all.insert(all.end(), {&images[i], &images[i + 1], &images[i + 2]});
                }
                for (GuardedColors& one : made) all.push_back(&one);
                run_on(target, all, [&]<class Backend>(Backend& backend) {
                  const Frame inputs[] = {held[0], held[1]};
                  Colors colors[2], smoothed[2];
                  for (int i = 0; i < count; ++i) {
                    const std::size_t first = std::size_t(12 * i);
                    colors[i] = made[std::size_t(2 * i)].view();
                    smoothed[i] = taps.radius > 0 ? made[std::size_t(2 * i + 1)].view() : colors[i];
                    View<float> plain[3], soft[3];
                    for (std::size_t c = 0; c < 3; ++c) {
                      plain[c] = images[first + 6 + c].view();
                      soft[c] = images[first + 9 + c].view();
                    }
                    convert_color(backend, inputs[i], plain);
                    for (int c = 0; c < 3 && taps.radius > 0; ++c)
                      smooth(backend, &plain[c], taps, &soft[c], 1);
                  }
                  make_colors<Backend>(backend, inputs, count, taps, colors, smoothed, count);
                });
                return images;
              };
          std::vector<Guarded> expected = make(reference_target()), actual = make(GetParam());
          for (std::size_t i = 0; i < actual.size(); ++i) {
            actual[i].expect_intact_guard(what);
            expect_same<float>(expected[i].view(), actual[i].view(), what);
            if (i % 12 < 6)
              expect_same<float>(actual[i].view(), actual[i + 6].view(), what + ", by the steps");
          }
          for (std::size_t i = 0; i < std::size_t(count); ++i) {
            const oracle::Rgb plain = oracle::colors(frames[i]);
            for (std::size_t c = 0; c < 3; ++c)
              for (int y = 0; y < size.height; ++y)
                for (int x = 0; x < size.width; ++x)
                  ASSERT_NEAR(actual[12 * i + c].view()(x, y), plain[c](x, y), 1e-4) << what;
          }
          if (HasFatalFailure()) return;
        }
}

TEST_P(GuidedColors, GatherFeatures) {
  constexpr int count = 150, capacity = 200;
  const LikelihoodScale scale = likelihood_scale(10, 20);
  for (const Size size : {Size{40, 30}, Size{1, 7}, Size{33, 1}, Size{1, 1}})
    for (const bool reversed : {false, true}) {
      const std::string what = text_of(size) + (reversed ? ", reversed" : "");
      std::vector<Track> tracks;
      std::mt19937 random(5);
      const auto uniform = [&](float low, float high) {
        return low + (high - low) * float(random() % 4096) / 4096;
      };
      for (int i = 0; i < count; ++i) {
        Track track{uniform(-2, float(size.width + 1)), uniform(-2, float(size.height + 1)), uniform(-3, 3),
                    uniform(-3, 3)};
        if (i % 3 == 0) track.x = 0, track.y = float(size.height - 1);  // corners are inside
        if (i % 3 == 0 && i % 2) track.u = track.v = 0;
        if (i % 20 == 1) track.u = nan;
        if (i % 20 == 2) track.y = nan;
        if (i % 20 == 3) track.v = INFINITY;
        if (i % 20 == 4) track.x = -INFINITY;
        tracks.push_back(track);
      }
      std::vector<Guarded> planes;
      const auto make = [&](const Target& target) {  // x, y, red, green, blue, u, v, count
        std::vector<Guarded> images;
        const int chunks = (capacity + chunk_size - 1) / chunk_size;
        for (int i = 0; i < 7; ++i) images.emplace_back(Size{chunks * chunk_size, 1});
        Guarded records({8 * chunks * chunk_size, 1}), bounds({10 * chunks, 1});
        GuardedImage<int> found({1, 1});
        Guarded values({4 * count, 1});
        std::memcpy(values.view().data, tracks.data(), sizeof(Track) * tracks.size());
        planes.clear();
        for (unsigned i = 0; i < 3; ++i) planes.emplace_back(size, 70 + i);
        if (size.width > 30) planes[1].view()(10, 0) = nan;
        GuardedColors colors(planes.data());
        std::vector<Movable*> all{&colors, &values, &records, &bounds, &found};
        for (Guarded& image : images) all.push_back(&image);
        run_on(target, all, [&]<class Backend>(Backend& backend) {
          const auto at = [&](std::size_t i) { return images[i].view().data; };
          const FlowFeatures features{at(0),
                                      at(1),
                                      at(2),
                                      at(3),
                                      at(4),
                                      at(5),
                                      at(6),
                                      records.view().data,
                                      bounds.view().data,
                                      found.view().data,
                                      capacity,
                                      chunks};
          gather_features<Backend>(backend,
                                   {reinterpret_cast<const Track*>(values.view().data), count, reversed},
                                   colors.view(), scale, features);
        });
        EXPECT_EQ(found.view()(0, 0), count);
        return images;
      };
      std::vector<Guarded> expected = make(reference_target()), actual = make(GetParam());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        actual[i].expect_intact_guard(what);
        expect_same<float>(View<const float>{actual[i].view().data, count, 1},
                           View<const float>{expected[i].view().data, count, 1}, what);
      }
      if (HasFatalFailure()) return;
      const oracle::Rgb colors{oracle::grid_of(planes[0].view()), oracle::grid_of(planes[1].view()),
                               oracle::grid_of(planes[2].view())};
      int known = 0;
      for (int i = 0; i < count; ++i) {
        Track track = tracks[std::size_t(i)];
        if (reversed) track = {track.x + track.u, track.y + track.v, -track.u, -track.v};
        const auto features = oracle::features_of({track}, colors);
        const auto value = [&](std::size_t plane) { return actual[plane].view()(i, 0); };
        if (features.empty()) {
          ASSERT_GE(value(0), 1e14f) << what << ", " << i;
          continue;
        }
        ++known;
        const double root = std::sqrt(1 / std::log(2.0) / 2);  // so that squares are exponents to base 2
        for (std::size_t k = 0; k < 5; ++k) {
          const double sigma = k < 2 ? 10 : 20;
          ASSERT_NEAR(value(k), features[0].place[k] * root / sigma, 1e-4) << what << ", " << i;
        }
        ASSERT_EQ(value(5), track.u);
        ASSERT_EQ(value(6), track.v);
      }
      EXPECT_GT(known, reversed && size.width * size.height < 50 ? 10 : 30) << what;
    }
}

INSTANTIATE_TEST_SUITE_P(Targets, GuidedColors, every_target(), target_name);

}  // namespace
}  // namespace parafield
