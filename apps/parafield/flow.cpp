#include "commands.hpp"
#include "files.hpp"
#include "interrupt.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "pictures.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct Command {
  std::string frame0, frame1;
  std::string output, valid, color, truth, mask;
  bool valid_only = false, json = false, quiet = false;
  PictureOptions picture;
  MethodOptions<FlowMethod> method;
  DeviceOptions device;
  FlowOptions flow;
  int repeats = 1;
};

struct Estimate {
  FlowField flow;  // in host memory
  Times times;
};

/// Times the estimator alone: the frames are on its device before it starts, and a first call has allocated.
Estimate estimate(const FlowMethod& method, const Device& device, const FrameBuffer& frame0,
                  const FrameBuffer& frame1, const FlowOptions& options, int repeats) {
  const Memory memory = device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
  const FrameBuffer resident0 = frame0.to(memory), resident1 = frame1.to(memory);
  FlowEstimator estimator(method, frame0.size(), device, {}, options);
  Timer timer(device, estimator.stream());
  estimator(resident0, resident1);
  estimator.synchronize();
  const FlowField* result = nullptr;
  const Times times = measure({.fixed = repeats}, [&](int) {
    timer.start();
    result = &estimator(resident0, resident1);
    return timer.stop();
  });
  estimator.synchronize();
  return {result->to(Memory::host()), times};
}

Json report_json(const Command& options, const FlowMethod& method, const DeviceInfo& info, Size size,
                 const Times& times) {
  Json report;
  std::visit(
      [&](const auto& chosen) {
        report["method"] = chosen.name;
        if (!options.method.preset.empty()) report["preset"] = options.method.preset;
        report["parameters"] = parameters_json(chosen);
      },
      method);
  report["fb_check"] = options.flow.fb_check;
  add_device(report, info);
  report["width"] = size.width;
  report["height"] = size.height;
  report["repeats"] = times.repeats;
  report["milliseconds"] = times.median;
  return report;
}

void run(const Command& options) {
  const FlowMethod method = options.method.method();
  const Device device = options.device.device();
  check_outputs({{"-o", options.output, {".flo", ".png", ".pfm", ".npy"}},
                 {"--valid", options.valid, {".png", ".pgm"}},
                 {"--color", options.color, {".png", ".ppm"}}},
                {options.frame0, options.frame1, options.truth, options.mask});
  const DeviceInfo info = describe_device(device);

  const FrameBuffer frame0 = read_frame(options.frame0), frame1 = read_frame(options.frame1);
  check_same_size(options.frame0, frame0.size(), options.frame1, frame1.size());
  FlowField truth;
  Image<std::uint8_t> mask;
  if (!options.truth.empty()) {
    truth = read_flow(options.truth);
    check_same_size(options.frame0, frame0.size(), options.truth, truth.size());
  }
  if (!options.mask.empty()) {
    mask = read_mask(options.mask);
    check_same_size(options.frame0, frame0.size(), options.mask, mask.size());
  }

  const auto [flow, times] = estimate(method, device, frame0, frame1, options.flow, options.repeats);
  FlowScores scores;
  if (truth.u) scores = evaluate(flow, truth, {.mask = mask, .valid_only = options.valid_only});

  if (!options.output.empty()) {
    const WhileWriting whole;
    write_flow(options.output, flow);
  }
  if (!options.valid.empty()) {
    const WhileWriting whole;
    write_mask(options.valid, flow.valid);
  }
  if (!options.color.empty()) {
    const FrameBuffer picture = options.picture.draw(flow, frame0);
    const WhileWriting whole;
    write_frame(options.color, picture);
  }

  if (options.json) {
    Json report = report_json(options, method, info, frame0.size(), times);
    if (truth.u) add_scores(report, scores);
    print(json_text(report));
  } else if (!options.quiet) {
    std::string text = fmt::format(
        "{} on {}: {}x{}, {:.3f} ms", std::visit([](const auto& chosen) { return chosen.name; }, method),
        device_text(info), frame0.size().width, frame0.size().height, times.median);
    text += times.repeats > 1 ? fmt::format(" (median of {})\n", times.repeats) : "\n";
    print(truth.u ? text + scores_text(scores) : text);
  }
}

}  // namespace

void add_flow(CLI::App& program) {
  const auto options = std::make_shared<Command>();
  CLI::App* command = program.add_subcommand("flow", "Estimate the optical flow from one frame to the next");
  command->add_option("FRAME0", options->frame0, "first frame: PNG, JPEG, PGM, PPM or PFM")
      ->required()
      ->type_name("FILE");
  command->add_option("FRAME1", options->frame1, "second frame, of the same size")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->output,
                   "write the flow: .flo (Middlebury), .png (KITTI, 16 bit), .pfm or .npy (NumPy)")
      ->type_name("FILE");
  command
      ->add_option("--valid", options->valid,
                   "write where the flow is to be trusted: .png or .pgm, 255 there and 0 elsewhere")
      ->type_name("FILE");
  CLI::Option* color =
      command->add_option("--color", options->color, "write a picture of the flow: .png or .ppm")
          ->type_name("FILE");
  options->picture.add_to(*command, color);
  command->get_option("--legend")->needs(color);
  CLI::Option* truth =
      command->add_option("--gt", options->truth, "true flow to compare with: .flo, .pfm, .npy or KITTI .png")
          ->type_name("FILE");
  command->add_option("--mask", options->mask, "with --gt: a picture; where it is 0, pixels do not count")
      ->type_name("FILE")
      ->needs(truth);
  command
      ->add_flag("--valid-only", options->valid_only,
                 "with --gt: count only the pixels that the method trusts")
      ->needs(truth);
  command
      ->add_option(
          "--fb-check", options->flow.fb_check,
          "forward-backward check: flow is valid only where going there and back ends within PX of the "
          "pixel; takes twice the time; 0 = none")
      ->type_name("PX")
      ->check(CLI::Range(0.0f, 1e6f))
      ->capture_default_str();
  command
      ->add_option("--repeat", options->repeats,
                   "how often the estimation is timed, after one call that is not; the median is reported")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print the report as one JSON object");
  command->add_flag("-q,--quiet", options->quiet, "print no report in text");
  options->device.add_to(*command);
  options->method.add_to(*command);
  command->callback([options] { run(*options); });
}

}  // namespace parafield::command
