// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace parafield::command {
namespace {

struct SynthOptions {
  std::string scene, folder, size = "640x480", texture = "fine";
  int frames = 2;
  std::uint64_t seed = 1;
  bool rgb = false;
};

void run(const SynthOptions& options) {
  const SceneOptions scene_options{.size = parse_size(options.size),
                                   .frames = options.frames,
                                   .seed = options.seed,
                                   .fine = options.texture == "fine",
                                   .color = options.rgb};
  const Scene scene = render_scene(options.scene, scene_options);
  write_series(options.folder, [&](const Path& to) {
    const auto file = [&](const char* name, std::size_t i, const char* extension) {
      WhileWriting::check();
      return to / fmt::format("{}{:04}{}", name, i, extension);
    };
    for (std::size_t i = 0; i < scene.frames.size(); ++i)
      write_frame(file("frame", i, ".png"), scene.frames[i]);
    for (std::size_t i = 0; i < scene.flow.size(); ++i) write_flow(file("flow", i, ".flo"), scene.flow[i]);
    for (std::size_t i = 0; i < scene.occluded.size(); ++i)
      write_mask(file("occluded", i, ".png"), scene.occluded[i]);
    for (std::size_t i = 0; i < scene.depth.size(); ++i) {
      const View<const float> depth = scene.depth[i];
      write_frame(file("depth", i, ".pfm"),
                  Frame{depth.data, depth.width, depth.height, depth.pitch, PixelFormat::gray_f32});
    }
  });
}

}  // namespace

void add_synth(App& program) {
  std::vector<std::string> names;
  std::string help = "scene: ";
  for (const SceneInfo& scene : scenes()) {
    help += fmt::format("{}{} ({})", names.empty() ? "" : ", ", scene.name, scene.help);
    names.emplace_back(scene.name);
  }
  auto [command, options] = add_command<SynthOptions>(
      program, "synth", "Render a scene with its true flow and, if it has some, its depth", run);
  command.add_option("SCENE NAME", options.scene, help).one_of(names);
  const Option output = command.add_option("-o,--output DIR", options.folder).required();
  output.help(
      "folder for the files, made if it is missing: frame0000.png, flow0000.flo (true flow), "
      "occluded0000.png (255 where a pixel is not seen in the next frame) and, for scenes with depth, "
      "depth0000.pfm (one channel, along the viewing direction, in scene units, infinite in the sky), "
      "and so on");
  command.add_setting("--size WxH", options.size, "size, px");
  command.add_setting("--frames N", options.frames, "number of frames").range(1, 9999);
  command.add_setting("--seed S", options.seed)
      .help("random seed; the same seed gives the same scene on every machine");
  command.add_setting("--texture NAME", options.texture)
      .one_of({"fine", "smooth"})
      .help("fine (details down to about 3 px) or smooth (above about 20 px)");
  command.add_flag("--rgb", options.rgb, "render frames in color; their luma is that of the gray frames");
}

}  // namespace parafield::command
