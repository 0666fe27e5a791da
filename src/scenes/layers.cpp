// SPDX-License-Identifier: MIT
#include "core/views.hpp"
#include "scenes/render.hpp"
#include "scenes/surface.hpp"

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
std::size_t nearest_layer(std::span<const Placed> placed, Point p) {
  std::size_t i = 0;
  while (i + 1 < placed.size() && !placed[i].covers(p)) ++i;
  return i;
}

/// Paints the layers, without the last one if the frame already shows a picture in its place.
void paint(Passes& passes, const std::vector<Placed>& placed, bool has_picture, FrameBuffer& frame) {
  const Canvas canvas(frame);
  passes.pixels(frame.size(), placed, [&](std::vector<Placed>& own, int x, int y) {
    const Point p{double(x), double(y)};
    const std::size_t i = nearest_layer(own, p);
    if (has_picture && i + 1 == own.size()) return;
    auto& [layer, texture, dye, step, to_start] = own[i];
    const Point start = to_start(p);
    const double gray = texture(start.x, start.y);
    const double surface = layer.windows > 0 ? facade_gray(gray, start, layer.windows)
                           : layer.slats > 0 ? slats_gray(gray, start, layer.slats)
                                             : gray;
    canvas.put(x, y, surface + layer.light, canvas.colored() ? dye(start.x, start.y) : Tint{});
  });
}

}  // namespace

Scene render_layers(const LayeredScene& layered, const SceneOptions& options) {
  const std::vector<Layer> layers = scene_layers(layered, options.size, options.seed);
  const std::uint64_t colors = random_bits(options.seed, 4000);
  const std::size_t ground = layers.size() - 1;
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < layers.size(); ++i)
    placed.push_back(
        {.layer = layers[i],
         .texture = {random_bits(options.seed, i), {options.fine, layers[i].coarse}},
         .dye = i == ground || layers[i].camouflaged ? Dye::ground(colors, ground) : Dye::object(colors, i)});

  FrameBuffer picture;  // the first view of the fly-through, which replaces the last layer
  if (layered.before_landscape) {
    SceneOptions view = options;
    view.frames = 1;
    view.progress = {};
    picture = std::move(render_flythrough(view).frames[0]);
  }

  Scene scene;
  Passes passes(options, 2 * options.frames - 1);
  for (int i = 0; i < options.frames; ++i) {
    FrameBuffer& frame = add_frame(scene, options);
    if (layered.before_landscape) frame = picture.to({});
    paint(passes, placed, layered.before_landscape, frame);
    if (layered.before_landscape && i > 0) {
      Image<std::uint8_t>& moving = scene.moving.emplace_back(options.size);
      for_each_pixel(options.size, [&](int x, int y) {
        moving(x, y) = nearest_layer(placed, {double(x), double(y)}) != ground;
      });
    }
    if (i + 1 == options.frames) break;
    for (std::size_t j = 0; j < placed.size(); ++j)
      placed[j].step = step_of(layers[j], j == ground && ground > 0, options, i);
    const std::vector<Placed> now = placed;
    for (Placed& layer : placed) layer.to_start = layer.to_start * layer.step.inverse();
    const Truth truth(scene, options.size);
    passes.pixels(options.size, now, [&](const std::vector<Placed>& own, int x, int y) {
      const Point p{double(x), double(y)};
      const std::size_t layer = nearest_layer(own, p);
      const Point match = own[layer].step(p);
      truth.put(x, y, match, [&] { return nearest_layer(placed, match) < layer; });
    });
  }
  return scene;
}

}  // namespace parafield
