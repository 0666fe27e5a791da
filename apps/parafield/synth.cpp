// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct SynthOptions {
  std::string scene, folder, size = "640x480", texture = "fine", pace = "steady", conditions = "steady";
  int frames = 2;
  std::uint64_t seed = 1;
  bool rgb = false, quiet = false;
};

void write_depth(const Path& path, View<const float> depth) {
  write_frame(path, Frame{depth.data, depth.width, depth.height, depth.pitch, PixelFormat::gray_f32});
}

void run(const SynthOptions& options) {
  ProgressLine line(!options.quiet);
  const SceneOptions scene_options{.size = parse_size(options.size),
                                   .frames = options.frames,
                                   .seed = options.seed,
                                   .fine = options.texture == "fine",
                                   .color = options.rgb,
                                   .pace = pace_named(options.pace),
                                   .conditions = conditions_named(options.conditions),
                                   .progress = line.callback()};
  line.begin("rendering");
  const Scene scene = typed([&] { return render_scene(options.scene, scene_options); });

  line.begin("writing");
  std::vector<std::string> written;  // entries like "flow0000.flo to flow0002.flo"
  const double files = double(scene.frames.size() + scene.flow.size() + scene.occluded.size() +
                              scene.depth.size() + scene.disparity.size() + scene.moving.size());
  write_series(options.folder, [&](const Path& to) {
    double done = 0;
    const auto write_all = [&](const char* name, const char* extension, const auto& all, const auto& write,
                               std::size_t first = 0, std::size_t step = 1) {
      const auto numbered = [&](std::size_t i) {
        return fmt::format("{}{:04}{}", name, first + i * step, extension);
      };
      for (std::size_t i = 0; i < all.size(); ++i) {
        WhileWriting::check();
        write(to / numbered(i), all[i]);
        line.update(++done / files);
      }
      if (all.size() > 1)
        written.push_back(numbered(0) + " to " + numbered(all.size() - 1));
      else if (all.size() == 1)
        written.push_back(numbered(0));
    };
    write_all("frame", ".png", scene.frames, write_frame);
    write_all("flow", ".flo", scene.flow,
              [](const Path& path, const FlowField& flow) { write_flow(path, flow); });
    write_all("occluded", ".png", scene.occluded, write_mask);
    write_all("depth", ".pfm", scene.depth, write_depth);
    write_all(
        "disparity", ".pfm", scene.disparity,
        [](const Path& path, const DisparityField& disparity) { write_disparity(path, disparity); }, 0, 2);
    write_all("moving", ".png", scene.moving, write_mask, 1);
  });
  line.end();
  if (options.quiet) return;
  Report report;
  report.json["files"] = {options.folder};
  report.text = fmt::format("wrote into {}: {}\n", printable(options.folder), fmt::join(written, ", "));
  print(report, false);
}

}  // namespace

void add_synth(App& program) {
  std::vector<std::string> names;
  std::vector<std::pair<std::string, std::string>> list;
  for (const SceneInfo& scene : scenes()) {
    names.emplace_back(scene.name);
    list.emplace_back(scene.name, scene.help);
  }
  auto [command, options] = add_command<SynthOptions>(
      program, "synth", "Render a scene with its true flow, and depth, disparities or masks", run);
  command.add_option("SCENE NAME", options.scene, "one of the scenes below").one_of(names);
  const Option output = command.add_option("-o,--output DIR", options.folder).required();
  output.help(
      "folder for the files, made if it is missing. They are frame0000.png, flow0000.flo (true flow), "
      "occluded0000.png (255 where a pixel is not seen in the next frame) and, for scenes with depth, "
      "depth0000.pfm (one channel, along the viewing direction, in scene units, infinite in the sky), "
      "and so on. stereo, ball, sheet and clouds have disparity0000.pfm of the left image, balloons and square have "
      "moving0001.png (255 where something moves); square has no flow");
  command.add_setting("--size WxH", options.size, "size, px");
  command.add_setting("--frames N", options.frames, "number of frames").range(1, 9999);
  command.add_setting("--seed S", options.seed)
      .help("random seed. The same seed gives the same scene on every machine");
  command.add_setting("--texture NAME", options.texture)
      .one_of({"fine", "smooth"})
      .help("fine or smooth. Details of fine go down to about 3 px, those of smooth to about 20 px");
  constexpr auto paces = names_of(Pace{});
  command.add_setting("--pace NAME", options.pace)
      .one_of(std::vector<std::string>(paces.begin(), paces.end()))
      .help(
          "steady, accelerating, shaking (the camera, at random) or stop-and-go. Motion changes from frame "
          "to "
          "frame; in scenes of flat layers");
  constexpr auto conditions = names_of(Conditions{});
  command.add_setting("--conditions NAME", options.conditions)
      .one_of(std::vector<std::string>(conditions.begin(), conditions.end()))
      .help(
          "steady, swaying, drifting, jumping, stopping, noisy, waving, shadowed, leaving, shaking, lamp or "
          "thermal. Leaves sway, light drifts or jumps, a car stops for 100 frames, the camera is noisy, "
          "more "
          "leaves wave, shadows are strong, parked cars leave, the camera shakes, half of the scene is lit, "
          "or the images are thermal; in square");
  command.add_flag("--rgb", options.rgb, "render frames in color. Their luma is that of the gray frames");
  command.add_flag("-q,--quiet", options.quiet, "print no report");
  command.list("Scenes", list);
  command.examples({"synth layers -o scene", "synth flythrough -o flight --size 320x240 --frames 5 --rgb",
                    "flow scene/frame0000.png scene/frame0001.png --gt scene/flow0000.flo"});
}

}  // namespace parafield::command
