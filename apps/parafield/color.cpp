#include <cmath>

#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "options.hpp"

namespace parafield::command {
namespace {

struct ColorCommandOptions {
  std::string flow, output, scheme = "middlebury";
  float max_motion = 0;
};

void run(const ColorCommandOptions& options) {
  if (!(options.max_motion >= 0) || std::isinf(options.max_motion))
    throw UsageError(fmt::format("--max-motion cannot be {}; it is a length in px, or 0 for the longest flow",
                                 options.max_motion));
  check_outputs({{"-o", options.output, {".png", ".ppm"}}}, {options.flow});
  const ColorScheme scheme = options.scheme == "marzat" ? ColorScheme::marzat : ColorScheme::middlebury;
  const FrameBuffer picture =
      color_flow(read_flow(options.flow), {.scheme = scheme, .max_motion = options.max_motion});
  const WhileWriting whole;
  write_frame(options.output, picture);
}

}  // namespace

void add_color(CLI::App& program) {
  const auto options = std::make_shared<ColorCommandOptions>();
  CLI::App* command = program.add_subcommand("color", "Draw flow in colours");
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
  command->callback([options] { run(*options); });
}

}  // namespace parafield::command
