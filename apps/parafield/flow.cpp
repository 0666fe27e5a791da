#include "commands.hpp"
#include "estimation.hpp"
#include "interrupt.hpp"
#include "pictures.hpp"
#include "sift.hpp"

namespace parafield::command {
namespace {

/// Inputs of a flow beside frames.
struct GuideOptions {
  std::string tracks, rotation, intrinsics;

  void add_to(App& command) {
    constexpr const char* group = "Input of the methods that start from features";
    command
        .add_option(
            "--tracks", tracks,
            "tracks to use instead of finding some: lines of x,y,u,v, px, from parafield tracks or any other "
            "matcher")
        .type_name("FILE")
        .group(group);
    const Option angles =
        command
            .add_option("--rotation", rotation,
                        "rotation of the camera: the turn of the scene about the camera's axes x (right), "
                        "y (down) and z (forward), radians. Its flow is one more hypothesis")
            .type_name("X,Y,Z")
            .group(group);
    const Option camera =
        command.add_option("--intrinsics", intrinsics, "focal lengths and principal point of the camera, px")
            .type_name("FX,FY,CX,CY")
            .group(group)
            .needs(angles);
    angles.needs(camera);
  }

  /// Throws UsageError.
  std::optional<CameraRotation> camera() const {
    if (rotation.empty()) return {};
    const std::vector<float> turn = parse_numbers(rotation, 3, "--rotation"),
                             k = parse_numbers(intrinsics, 4, "--intrinsics");
    return CameraRotation{turn[0], turn[1], turn[2], k[0], k[1], k[2], k[3]};
  }
};

struct Command {
  std::vector<std::string> frames;
  std::string output, valid, color;
  GuideOptions guides;
  TruthOptions truth;
  PictureOptions picture;
  MethodOptions<FlowMethod> method;
  DeviceOptions device;
  FlowOptions flow;
  RunOptions run;
};

void write(const Command& options, const FlowField& flow, const FrameBuffer& frame) {
  const WhileWriting whole;
  if (!options.output.empty()) write_flow(options.output, flow);
  if (!options.valid.empty()) write_mask(options.valid, flow.valid);
  if (!options.color.empty()) write_frame(options.color, options.picture.draw(flow, frame));
}

/// The tracking parameters of a method; null if it does not track.
FeatureTracking* tracking_of(FlowMethod& method) {
  return std::visit(
      [](auto& chosen) -> FeatureTracking* {
        if constexpr (requires { chosen.tracking; })
          return &chosen.tracking;
        else
          return nullptr;
      },
      method);
}

void run(const Command& options) {
  FlowMethod method = options.method.method();
  const Device device = options.device.device();
  FlowOptions flow_options = options.flow;
  flow_options.energies = options.run.energies(method);
  const int count = frames_of(method), middle = (count - 1) / 2;
  if (int(options.frames.size()) != count)
    throw UsageError(fmt::format(
        "FRAMES: {} takes {}, not {}{}", name_of(method), count, options.frames.size(),
        std::holds_alternative<AdaptiveRidge>(method) ? "; --frames sets the number: 2, 3 or 5" : ""));
  if (options.flow.fb_check > 0 && count != 2)
    throw UsageError(fmt::format("--fb-check needs a method of two frames, not of {}", count));
  const std::string& tracks_file = options.guides.tracks;
  FlowInput given{.frames = {}, .rotation = options.guides.camera()};
  FeatureTracking* const tracking = tracking_of(method);
  if (!tracking && (!tracks_file.empty() || given.rotation))
    throw UsageError(fmt::format("{}: {} does not use it", tracks_file.empty() ? "--rotation" : "--tracks",
                                 name_of(method)));
  const bool sift = options.method.has_own();
  if (sift) {
    if (!tracks_file.empty())
      throw UsageError("--tracks and --features sift exclude each other: both give the tracks");
    check_sift_parameters(options.method.named());
  }
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.insert(inputs.end(), {options.truth.truth, options.truth.mask, tracks_file});
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
  std::vector<Track> tracks;
  if (!tracks_file.empty()) {
    tracks = read_tracks(tracks_file);
    given.tracks = tracks;
    tracking->max_features =
        std::max(tracking->max_features, int(std::min<std::size_t>(tracks.size(), 1 << 30)));
  }
  double sift_milliseconds = 0;
  if (sift) {
    Timer timer(Device::cpu());
    timer.start();
    tracks = sift_tracks(frames[0], frames[1], *tracking, options.device.threads);
    sift_milliseconds = timer.stop();
    given.tracks = tracks;
  }

  const auto [flow, times, energies] =
      estimate<Flow>(method, device, frames, flow_options, options.run, given);
  Json report;
  add_method(report, method, options.method.preset);
  add_levels(report, method, frame.size(), options.run.quiet);
  if (given.tracks) report["tracks"] = tracks.size();
  if (sift) {
    add_sift(report["parameters"]);
    report["sift_milliseconds"] = sift_milliseconds;
  }
  add_options(report, options.flow);
  add_device(report, info);
  add_times(report, frame.size(), times);
  add_energies(report, flow_options.energies, energies);
  std::string text =
      times_text(name_of(method), info, frame.size(), times) + energies_text(flow_options.energies, energies);
  if (sift) text += fmt::format("{} tracks by SIFT, {:.1f} ms more\n", tracks.size(), sift_milliseconds);
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
                  "frames of one size in time order, as many as the method takes: PNG, JPEG, PGM, PPM or "
                  "PFM. The flow is that of the first of two frames, or of the middle one of more")
      .required()
      .type_name("FILE");
  command
      .add_option("-o,--output", options->output,
                  "write the flow: .flo (Middlebury), .png (KITTI, 16 bit), .pfm or .npy (NumPy)")
      .type_name("FILE");
  command
      .add_option("--valid", options->valid,
                  "write where the flow is valid: .png or .pgm, 255 there, otherwise 0")
      .type_name("FILE");
  Option color = command.add_option("--color", options->color, "write a picture of the flow: .png or .ppm")
                     .type_name("FILE");
  options->picture.add_to(command, color);
  command.get_option("--legend").needs(color);
  options->guides.add_to(command);
  options->truth.add_to(command, "true flow to compare with: .flo, .pfm, .npy or KITTI .png");
  options->run.add_to(command);
  options->device.add_to(command);
  TaskOptions::add_to(command, options->flow);
  options->method.add_to(command, &sift_features);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
