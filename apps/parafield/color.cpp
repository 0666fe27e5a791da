#include <cmath>

#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "pictures.hpp"

namespace parafield::command {
namespace {

struct ColorCommandOptions {
  std::string flow, output, frame, scheme = "middlebury";
  float max_motion = 0;
  PictureOptions picture;
};

void run(const ColorCommandOptions& options) {
  if (!(options.max_motion >= 0) || std::isinf(options.max_motion))
    throw UsageError(fmt::format("--max-motion cannot be {}; it is a length in px, or 0 for the longest flow",
                                 options.max_motion));
  check_outputs({{"-o", options.output, {".png", ".ppm"}}}, {options.flow, options.frame});
  const ColorScheme scheme = options.scheme == "marzat" ? ColorScheme::marzat : ColorScheme::middlebury;
  const FlowField flow = read_flow(options.flow);
  FrameBuffer frame;
  if (!options.frame.empty()) {
    frame = read_frame(options.frame);
    check_same_size(options.flow, flow.size(), options.frame, frame.size());
  }
  const FrameBuffer picture =
      options.picture.draw(flow, frame, {.scheme = scheme, .max_motion = options.max_motion});
  const WhileWriting whole;
  write_frame(options.output, picture);
}

}  // namespace

void add_color(CLI::App& program) {
  const auto options = std::make_shared<ColorCommandOptions>();
  CLI::App* command = program.add_subcommand("color", "Draw flow in colours or as arrows");
  command->add_option("FLOW", options->flow, "flow: .flo, .pfm, .npy or KITTI .png")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "picture to write: .png or .ppm")
      ->required()
      ->type_name("FILE");
  command
      ->add_option(
          "--scheme", options->scheme,
          "middlebury: hue is direction, white is no motion; marzat: hue is direction, black is no motion")
      ->type_name("NAME")
      ->check(CLI::IsMember({"middlebury", "marzat"}))
      ->capture_default_str();
  command
      ->add_option("--max-motion", options->max_motion, "length with full colour, px; 0 = the longest flow")
      ->type_name("PX")
      ->capture_default_str();
  CLI::Option* frame =
      command->add_option("--frame", options->frame, "the flow's first frame")->type_name("FILE");
  options->picture.add_to(*command, frame);
  for (const char* of_colors : {"--scheme", "--max-motion"})
    command->get_option("--arrows")->excludes(command->get_option(of_colors));
  command->callback([options] { run(*options); });
}

}  // namespace parafield::command
