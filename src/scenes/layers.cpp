// SPDX-License-Identifier: MIT
#include <cstring>

#include "scenes/dye.hpp"
#include "scenes/facade.hpp"
#include "scenes/random.hpp"
#include "scenes/render.hpp"
#include "scenes/texture.hpp"

namespace parafield {
namespace {

/// A layer at the time of one frame.
struct Placed {
  Layer layer;
  Texture texture;
  Dye dye;
  Affine step = {};      ///< from this frame to the next
  Affine to_start = {};  ///< from a point of this frame to its match in frame 0

  bool covers(Point p) const { return layer.shape.contains(to_start(p)); }
};

/// Index of the nearest layer that covers a point.
std::size_t nearest(std::span<const Placed> placed, Point p) {
  std::size_t i = 0;
  while (i + 1 < placed.size() && !placed[i].covers(p)) ++i;
  return i;
}

/// Paints the layers over the picture, which replaces the last layer, or all layers if there is no picture.
void paint(Passes& passes, std::span<const Placed> placed, const FrameBuffer& picture, FrameBuffer& frame) {
  const bool has_picture = picture.size() != Size{};
  const std::size_t row_bytes =
      std::size_t(frame.size().width) * std::size_t(bytes_per_pixel(frame.format()));
  passes.run(frame.size().height, frame.size().width, [&](int y) {
    Row row(frame, y);
    if (has_picture) std::memcpy(frame.row(y), picture.row(y), row_bytes);
    for (std::size_t i = placed.size() - has_picture; i-- > 0;) {
      Placed layer = placed[i];  // a copy for this thread
      for (int x = 0; x < frame.size().width; ++x) {
        const Point start = layer.to_start({double(x), double(y)});
        if (!layer.layer.shape.contains(start)) continue;
        const double texture = layer.texture(start.x, start.y), windows = layer.layer.windows;
        row.put(x, (windows > 0 ? facade_gray(texture, start, windows) : texture) + layer.layer.light,
                row.colored() ? layer.dye(start.x, start.y) : Tint{});
      }
    }
  });
}

/// Writes the truth from the frame `now` to the frame `next`.
void write_truth(Passes& passes, std::span<const Placed> now, std::span<const Placed> next, FlowField& flow,
                 Image<std::uint8_t>& occluded) {
  passes.run(flow.size().height, flow.size().width, [&](int y) {
    for (int x = 0; x < flow.size().width; ++x) {
      const Point p{double(x), double(y)};
      const std::size_t layer = nearest(now, p);
      const Point match = now[layer].step(p);
      occluded(x, y) = !write_flow(flow, x, y, match) || nearest(next, match) < layer;
    }
  });
}

/// 1 where a layer other than the last one is seen.
void write_moving(std::span<const Placed> placed, Image<std::uint8_t>& moving) {
  for (int y = 0; y < moving.size().height; ++y)
    for (int x = 0; x < moving.size().width; ++x)
      moving(x, y) = nearest(placed, {double(x), double(y)}) + 1 < placed.size();
}

}  // namespace

Scene render_layers(const LayeredScene& layered, const SceneOptions& options, const FrameBuffer& picture) {
  const std::vector<Layer> layers = scene_layers(layered, options.size, options.seed);
  const std::uint64_t colors = random_bits(options.seed, 4000);
  const std::size_t ground = layers.size() - 1;
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < layers.size(); ++i)
    placed.push_back(
        {.layer = layers[i],
         .texture = {random_bits(options.seed, i), {options.fine, layers[i].coarse}},
         .dye = i == ground || layers[i].camouflaged ? Dye::ground(colors, ground) : Dye::object(colors, i)});

  Scene scene;
  Passes passes(options, 2 * options.frames - 1);
  for (int i = 0; i < options.frames; ++i) {
    paint(passes, placed, picture, scene.frames.emplace_back(options.size, frame_format(options)));
    if (layered.before_landscape && i > 0) write_moving(placed, scene.moving.emplace_back(options.size));
    if (i + 1 == options.frames) break;
    for (std::size_t j = 0; j < placed.size(); ++j)
      placed[j].step = step_of(layers[j], j == ground && ground > 0, options, i);
    const std::vector<Placed> now = placed;
    for (Placed& layer : placed) layer.to_start = layer.to_start * layer.step.inverse();
    write_truth(passes, now, placed, scene.flow.emplace_back(options.size, Memory::host(), false),
                scene.occluded.emplace_back(options.size));
  }
  return scene;
}

}  // namespace parafield
