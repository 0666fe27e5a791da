// SPDX-License-Identifier: MIT
#pragma once
// Shared by the tests of multi-hypothesis: frames with tracks, and its steps run on a target.
#include <chrono>
#include <functional>

#include "guided/candidates/scores.hpp"
#include "guided/support/tile.hpp"
#include "parafield/methods/multi_hypothesis.hpp"
#include "steps/guarded_colors.hpp"
#include "textures.hpp"

namespace parafield {

/// Three channels of two frames, and tracks from one to the other.
struct Tracked {
  Size size;
  std::vector<float> planes;  // red, green, blue of the first, then of the second
  std::vector<Track> tracks;
  const Homography* rotation = nullptr;

  explicit Tracked(Size s) : size(s), planes(std::size_t(6 * s.width * s.height)) {}
  float& at(int frame, int channel, int x, int y) {
    return planes[std::size_t(((frame * 3 + channel) * size.height + y) * size.width + x)];
  }
};

struct Chosen {
  Guarded u, v, confidence;
  GuardedImage<std::uint8_t> valid;
  LabelCount count = {};
  std::vector<Motion> labels;
  double milliseconds = 0;  // choose_labels alone

  explicit Chosen(Size size) : u(size), v(size), confidence(size), valid(size) {}
};

/// Expects the same bits everywhere; says where they differ.
inline void expect_same(Chosen& a, Chosen& b, const std::string& what) {
  ASSERT_EQ(a.count.labels, b.count.labels) << what;
  ASSERT_EQ(a.count.needed, b.count.needed) << what;
  ASSERT_EQ(a.count.columns, b.count.columns) << what;
  ASSERT_EQ(a.count.rows, b.count.rows) << what;
  const auto same = [&](float x, float y) { return std::memcmp(&x, &y, sizeof x) == 0; };
  for (std::size_t i = 0; i < a.labels.size(); ++i)
    ASSERT_TRUE(same(a.labels[i].u, b.labels[i].u) && same(a.labels[i].v, b.labels[i].v)) << what;
  for (int y = 0; y < a.u.view().height; ++y)
    for (int x = 0; x < a.u.view().width; ++x) {
      ASSERT_TRUE(same(a.u.view()(x, y), b.u.view()(x, y)) && same(a.v.view()(x, y), b.v.view()(x, y)))
          << what << " at (" << x << ", " << y << "): (" << a.u.view()(x, y) << ", " << a.v.view()(x, y)
          << ") and (" << b.u.view()(x, y) << ", " << b.v.view()(x, y) << ")";
      ASSERT_EQ(a.valid.view()(x, y), b.valid.view()(x, y)) << what << " at (" << x << ", " << y << ")";
      ASSERT_TRUE(same(a.confidence.view()(x, y), b.confidence.view()(x, y)))
          << what << " at (" << x << ", " << y << "): " << a.confidence.view()(x, y) << " and "
          << b.confidence.view()(x, y);
    }
}

/// Runs the steps. Likelihoods compare the frame's own colors: nothing is smoothed. choose_labels is repeated
/// and timed.
inline Chosen run_choice(const Target& target, Tracked scene, const MultiHypothesis& method,
                         int repeats = 1) {
  const Size size = scene.size;
  Chosen result(size);
  const int tracks = int(scene.tracks.size()), room = std::max(tracks, 1), capacity = method.max_labels;
  std::vector<Guarded> planes;
  Guarded track_values({4 * room, 1}), rotation_values({9, 1}), label_u({capacity + 1, 1}),
      label_v({capacity + 1, 1});
  GuardedImage<std::uint8_t> count({int(sizeof(LabelCount)), 1});
  if (tracks > 0)
    std::memcpy(track_values.view().data, scene.tracks.data(), sizeof(Track) * std::size_t(tracks));
  if (scene.rotation) std::memcpy(rotation_values.view().data, scene.rotation->h, sizeof scene.rotation->h);
  std::vector<Movable*> images{&result.u,        &result.v, &result.confidence, &result.valid, &track_values,
                               &rotation_values, &label_u,  &label_v,           &count};
  for (int i = 0; i < 6; ++i) {
    planes.emplace_back(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) planes.back().view()(x, y) = scene.at(i / 3, i % 3, x, y);
  }
  GuardedColors frame0(&planes[0]), frame1(&planes[3]);
  images.insert(images.end(), {&frame0, &frame1});
  const FlowSpace space = flow_space(method.labels == FlowLabels::grid, method.label_step, method.sigma_flow);
  const LikelihoodScale scale = likelihood_scale(method.sigma_position, method.sigma_color);
  const Forced forced(target);
  const Device device = target.device(2);
  with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    Workspace workspace(backend.memory());
    const FlowFeatures features = make_feature_memory(workspace, room);
    Labels labels = make_label_memory(workspace, room, capacity);
    backend.reserve_scratch(tile_scratch(room, choice_planes(capacity)));
    for (Movable* image : images) image->move(backend.memory());
    labels.u = label_u.view().data, labels.v = label_v.view().data;
    labels.count = reinterpret_cast<LabelCount*>(count.view().data);
    const Colors first = frame0.view(), second = frame1.view();
    const Homography* const rotation =
        scene.rotation ? reinterpret_cast<const Homography*>(rotation_values.view().data) : nullptr;
    for (int i = 0; i < 2; ++i)  // recorded, then replayed
      backend.replay({}, [&] {
        make_labels(backend, {reinterpret_cast<const Track*>(track_values.view().data), tracks, false}, first,
                    scale, space, rotation, features, labels);
      });
    for (int i = 0; i < 1 + repeats; ++i) {
      backend.synchronize();
      const auto begin = std::chrono::steady_clock::now();
      backend.replay({.slot = 1}, [&] {
        const ColorTest test{
            first, second, method.change_threshold, method.change_window, rotation, result.valid.view()};
        choose_labels(backend, LabelChoice{features,
                                           labels,
                                           first,
                                           scale,
                                           test,
                                           choice_parameters(method, space),
                                           {result.u.view(), result.v.view()},
                                           result.confidence.view()});
      });
      backend.synchronize();
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      result.milliseconds = i == 0 ? took.count() : std::min(result.milliseconds, took.count());
    }
    for (Movable* image : images) image->move(Memory::host());
  });
  std::memcpy(&result.count, count.view().data, sizeof result.count);
  for (int i = 0; i < result.count.labels; ++i)
    result.labels.push_back({label_u.view()(i, 0), label_v.view()(i, 0)});
  for (GuardedImage<float>* image :
       {static_cast<GuardedImage<float>*>(&result.u), static_cast<GuardedImage<float>*>(&result.v),
        static_cast<GuardedImage<float>*>(&result.confidence), static_cast<GuardedImage<float>*>(&label_u),
        static_cast<GuardedImage<float>*>(&label_v)})
    image->expect_intact_guard("choose_labels");
  result.valid.expect_intact_guard("choose_labels");
  return result;
}

/// Three textures. A pixel (x, y) of the second frame shows what moved there by flow(x, y).
using FlowOf = std::function<Motion(double, double)>;
inline Tracked moving(Size size, unsigned seed, const FlowOf& flow) {
  Tracked scene(size);
  for (int channel = 0; channel < 3; ++channel) {
    const Texture texture(seed + unsigned(channel));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const Motion motion = flow(x, y);
        scene.at(0, channel, x, y) = float(texture(x, y));
        scene.at(1, channel, x, y) = float(texture(x - motion.u, y - motion.v));
      }
  }
  return scene;
}

inline void add_tracks(Tracked& scene, int count, unsigned seed,
                       const std::function<Motion(float, float)>& flow) {
  std::mt19937 random(seed);
  for (int i = 0; i < count; ++i) {
    const float x = float(random() % 1000) / 1000 * float(scene.size.width - 1),
                y = float(random() % 1000) / 1000 * float(scene.size.height - 1);
    const Motion motion = flow(x, y);
    scene.tracks.push_back({x, y, motion.u, motion.v});
  }
}

/// A scene whose left half moves by (2, 1) and whose right half by (-1, 0.6), with tracks that are off by up
/// to a pixel.
inline Tracked two_motions(Size size, int tracks, unsigned seed = 3) {
  const auto flow = [=](double x, double) { return x < size.width / 2 ? Motion{2, 1} : Motion{-1, 0.6f}; };
  Tracked scene = moving(size, seed, flow);
  std::mt19937 random(seed);
  add_tracks(scene, tracks, seed, [&](float x, float y) {
    const Motion motion = flow(x, y);
    return Motion{motion.u + float(random() % 200) / 100 - 1, motion.v + float(random() % 200) / 100 - 1};
  });
  return scene;
}

inline MultiHypothesis small_method() {
  MultiHypothesis method;
  method.sigma_position = 9;
  method.max_labels = 200;
  return method;
}

class LabelsOnTarget : public OnTarget {
 protected:
  Chosen expect_like_reference(const Tracked& scene, const MultiHypothesis& method, const std::string& what) {
    Chosen expected = run_choice(reference_target(), scene, method),
           actual = run_choice(GetParam(), scene, method);
    expect_same(expected, actual, what);
    return actual;
  }
};

}  // namespace parafield
