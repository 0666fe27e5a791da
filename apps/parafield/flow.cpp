#include "commands.hpp"
#include "estimation.hpp"
#include "interrupt.hpp"
#include "pictures.hpp"

namespace parafield::command {
namespace {

struct Command {
  std::vector<std::string> frames;
  std::string output, valid, color;
  TruthOptions truth;
  PictureOptions picture;
  MethodOptions<FlowMethod> method;
  DeviceOptions device;
  FlowOptions flow;
  RunOptions run;
};

void write(const Command& options, const FlowField& flow, const FrameBuffer& frame) {
  if (!options.output.empty()) {
    const WhileWriting whole;
    write_flow(options.output, flow);
  }
  if (!options.valid.empty()) {
    const WhileWriting whole;
    write_mask(options.valid, flow.valid);
  }
  if (!options.color.empty()) {
    const FrameBuffer picture = options.picture.draw(flow, frame);
    const WhileWriting whole;
    write_frame(options.color, picture);
  }
}

void run(const Command& options) {
  const FlowMethod method = options.method.method();
  const Device device = options.device.device();
  FlowOptions flow_options = options.flow;
  flow_options.energies = options.run.energies(method);
  const int count = frames_of(method), middle = (count - 1) / 2;
  if (int(options.frames.size()) != count)
    throw UsageError(fmt::format(
        "FRAMES: {} takes {}, not {}{}", name_of(method), count, options.frames.size(),
        std::holds_alternative<AdaptiveRidge>(method) ? "; with --frames 3 or --frames 5 as many" : ""));
  if (options.flow.fb_check > 0 && count != 2)
    throw UsageError(fmt::format("--fb-check: needs a method of two frames, not of {}", count));
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.insert(inputs.end(), {options.truth.truth, options.truth.mask});
  check_outputs({{"-o", options.output, {".flo", ".png", ".pfm", ".npy"}},
                 {"--valid", options.valid, {".png", ".pgm"}},
                 {"--color", options.color, {".png", ".ppm"}}},
                inputs);
  const DeviceInfo info = describe_device(device);

  const std::vector<FrameBuffer> frames = read_frames(options.frames);
  const FrameBuffer& frame = frames[std::size_t(middle)];
  const std::string& name = options.frames[std::size_t(middle)];
  FlowField truth;
  if (!options.truth.truth.empty()) {
    truth = read_flow(options.truth.truth);
    check_same_size(name, frame.size(), options.truth.truth, truth.size());
  }
  const auto mask = read_mask_like(options.truth.mask, name, frame.size());

  const auto [flow, times, energies] = estimate<Flow>(method, device, frames, flow_options, options.run);
  Json report;
  add_method(report, method, options.method.preset);
  add_levels(report, method, frame.size(), options.run.quiet);
  report["fb_check"] = options.flow.fb_check;
  add_refinement(report, options.flow);
  add_device(report, info);
  add_times(report, frame.size(), times);
  add_energies(report, flow_options.energies, energies);
  std::string text =
      times_text(name_of(method), info, frame.size(), times) + energies_text(flow_options.energies, energies);
  if (truth.u) {
    const FlowScores scores = evaluate(flow, truth, {.mask = mask, .valid_only = options.truth.valid_only});
    add_scores(report, scores);
    text += scores_text(scores);
  }
  write(options, flow, frame);
  options.run.print(report, text);
}

}  // namespace

void add_flow(App& program) {
  const auto options = std::make_shared<Command>();
  App command = program.add_subcommand("flow", "Estimate the optical flow from one frame to the next");
  command
      .add_option("FRAMES", options->frames,
                  "frames of one size in time order, as many as the method takes: the flow is that of the "
                  "first of two, or "
                  "of the middle one; PNG, JPEG, PGM, PPM or PFM")
      .required()
      .type_name("FILE");
  command
      .add_option("-o,--output", options->output,
                  "write the flow: .flo (Middlebury), .png (KITTI, 16 bit), .pfm or .npy (NumPy)")
      .type_name("FILE");
  command
      .add_option("--valid", options->valid,
                  "write where the flow is to be trusted: .png or .pgm, 255 there and 0 elsewhere")
      .type_name("FILE");
  Option color = command.add_option("--color", options->color, "write a picture of the flow: .png or .ppm")
                     .type_name("FILE");
  options->picture.add_to(command, color);
  command.get_option("--legend").needs(color);
  options->truth.add_to(command, "true flow to compare with: .flo, .pfm, .npy or KITTI .png");
  options->run.add_to(command);
  options->device.add_to(command);
  command
      .add_option("--fb-check", options->flow.fb_check,
                  "forward-backward check: flow is valid only where going there and back ends within PX of "
                  "the pixel; takes twice the time; 0 = none")
      .type_name("PX")
      .range(0.0f, 1e6f)
      .capture_default_str()
      .group(refinement_group);
  add_refinement(command, options->flow,
                 "pixels that are not valid take the shorter of the nearest valid flows on their row");
  options->method.add_to(command);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
