// SPDX-License-Identifier: MIT
#include "kim/pole_scene.hpp"

#include <algorithm>
#include <cmath>

namespace parafield::bench {

Tracks PoleScene::with_one_on_bar() const {
  Tracks list = tracks;
  list.push_back({x, float(truth.size().height) / 2, bar_u, bar_v});
  return list;
}

Tracks PoleScene::with_labels_elsewhere(int count) const {
  Tracks list = tracks;
  const float width = float(truth.size().width), corner = x < width / 2 ? width - 8 : 8;
  for (int i = 1; i <= count; ++i) {
    const float share = float(i) / float(count);
    list.push_back({corner, 8, std::lerp(ground_u, bar_u, share), std::lerp(ground_v, bar_v, share)});
  }
  return list;
}

PoleScene pole_scene(const char* name, Size size, std::uint64_t seed, const Device& device) {
  Scene rendered = render_scene(name, {.size = size, .seed = seed, .color = true});
  PoleScene scene;
  scene.truth = std::move(rendered.flow[0]);
  scene.seen = Image<std::uint8_t>(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) scene.seen(x, y) = !rendered.occluded[0](x, y);

  // The bar has the longest flow.
  scene.bar_u = 0;
  for (int x = 0; x < size.width; ++x)
    if (const float u = scene.truth.u(x, 0); std::abs(u) > std::abs(scene.bar_u)) scene.bar_u = u;
  scene.bar_v = 0;
  double sum = 0;
  int columns = 0;
  for (int x = 0; x < size.width; ++x)
    if (scene.on_bar(x, 0))
      sum += x, ++columns;
    else
      scene.ground_u = scene.truth.u(x, 0), scene.ground_v = scene.truth.v(x, 0);
  scene.x = float(sum / columns);

  const FeatureTracking tracking{.features = FeatureChoice::corners, .max_features = 200};
  const float reach = float(columns) / 2 + float(tracking.track_window) / 2;
  scene.tracks = find_tracks(rendered.frames[0], rendered.frames[1], tracking, device);
  std::erase_if(scene.tracks, [&](const Track& track) { return std::abs(track.x - scene.x) <= reach; });
  scene.frame0 = std::move(rendered.frames[0]);
  scene.frame1 = std::move(rendered.frames[1]);
  return scene;
}

PoleScores score(const FlowField& flow, const PoleScene& scene) {
  const Size size = flow.size();
  double bar = 0, background = 0, all_bar = 0, all_background = 0, error[2] = {}, count[2] = {};
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double off = std::hypot(flow.u(x, y) - scene.truth.u(x, y), flow.v(x, y) - scene.truth.v(x, y));
      const bool valid = flow.valid(x, y) != 0;
      error[valid] += off;
      ++count[valid];
      if (scene.on_bar(x, y)) {
        ++all_bar;
        bar += off < 1;
      } else if (scene.seen(x, y)) {
        ++all_background;
        background += off < 1;
      }
    }
  return {bar / all_bar, background / all_background, count[0] / (count[0] + count[1]), error[1] / count[1],
          error[0] / count[0]};
}

}  // namespace parafield::bench
