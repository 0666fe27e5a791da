#include <cmath>
#include <deque>

#include "commands.hpp"
#include "estimation.hpp"
#include "interrupt.hpp"
#include "sift.hpp"

namespace parafield::command {
namespace {

/// Options for the fields of FeatureTracking, as text.
class TrackingOptions {
 public:
  /// Adds the options. They point into this object until the command has run.
  void add_to(App& command) {
    std::vector<ParameterValue> parameters = parameters_of(FeatureTracking{});
    sift_features.add_to(parameters);
    for (const ParameterValue& parameter : parameters) {
      Given& given = given_.emplace_back(Given{std::string(parameter.name), {}});
      given.option = command.add_option(option_name(parameter.name), given.text)
                         .type_name(parameter.is_name() ? "NAME" : "N")
                         .description(parameter_help(parameter))
                         .group("Parameters of features and tracking");
    }
  }

  /// Throws UsageError for a value out of range.
  FeatureTracking tracking() const {
    FeatureTracking tracking;
    typed([&] {
      for (const Given& each : given_) {
        if (each.option.count() == 0 || sift_features.is(each.parameter, each.text)) continue;
        sift_features.listed(each.parameter, [&] { set_parameter(tracking, each.parameter, each.text); });
      }
      return 0;
    });
    return tracking;
  }

  /// Whether --features is sift. Throws UsageError for a parameter that SIFT does not use.
  bool sift() const {
    std::vector<std::string_view> named;
    bool sift = false;
    for (const Given& each : given_) {
      if (each.option.count() == 0) continue;
      named.push_back(each.parameter);
      sift |= sift_features.is(each.parameter, each.text);
    }
    if (sift) check_sift_parameters(named);
    return sift;
  }

 private:
  struct Given {
    std::string parameter, text;
    Option option = {};
  };
  std::deque<Given> given_;  // CLI11's options point into it
};

struct Command {
  std::string frame0, frame1, output, color, truth;
  TrackingOptions tracking;
  DeviceOptions device;
  int repeats = 1;
  bool json = false, quiet = false;
};

struct TrackScores {
  double mean = NAN, median = NAN;  // px
  int count = 0;                    // tracks with known truth
};

/// Scores of tracks. Their truth is that of the nearest pixel.
TrackScores scores_of(const std::vector<Track>& tracks, const FlowField& truth) {
  std::vector<double> errors;
  for (const Track& track : tracks) {
    const int x = int(std::lround(track.x)), y = int(std::lround(track.y));
    if (!truth.valid(x, y)) continue;
    errors.push_back(std::hypot(double(track.u) - truth.u(x, y), double(track.v) - truth.v(x, y)));
  }
  TrackScores scores;
  scores.count = int(errors.size());
  if (errors.empty()) return scores;
  std::ranges::sort(errors);
  scores.median = quantile(errors, 0.5);
  scores.mean = 0;
  for (const double error : errors) scores.mean += error / double(errors.size());
  return scores;
}

/// The frame with an arrow from each feature to its match.
FrameBuffer picture_of(const Frame& frame, const std::vector<Track>& tracks) {
  FlowField flow(frame.size());  // valid nowhere
  for (const Track& track : tracks) {
    const int x = int(std::lround(track.x)), y = int(std::lround(track.y));
    flow.u(x, y) = track.u;
    flow.v(x, y) = track.v;
    flow.valid(x, y) = 1;
  }
  return draw_arrows(frame, flow, {.step = 1});
}

Device device_of(DeviceOptions options, bool sift) {
  if (sift && options.name == "auto") options.name = "cpu";
  const Device device = options.device();
  if (sift && device.kind != Device::Kind::cpu)
    throw UsageError(fmt::format("--device {}: --features sift runs on the CPU only", options.name));
  return device;
}

void run(const Command& options) {
  const FeatureTracking tracking = options.tracking.tracking();
  const bool sift = options.tracking.sift();
  const Device device = device_of(options.device, sift);
  check_outputs({{"-o", options.output, {".csv", ".txt"}}, {"--color", options.color, {".png", ".ppm"}}},
                {options.frame0, options.frame1, options.truth});
  const DeviceInfo info = describe_device(device);
  const std::vector<FrameBuffer> frames = read_frames({options.frame0, options.frame1});
  const Size size = frames[0].size();
  FlowField truth;
  if (!options.truth.empty()) {
    truth = read_flow(options.truth);
    check_same_size(options.frame0, size, options.truth, truth.size());
  }

  const FrameBuffer there[] = {frames[0].to(memory_of(device)), frames[1].to(memory_of(device))};
  const auto find = [&] {
    return sift ? sift_tracks(there[0], there[1], tracking, options.device.threads)
                : find_tracks(there[0], there[1], tracking, device);
  };
  std::vector<Track> tracks = find();
  Timer timer(Device::cpu());
  const Times times = measure({.fixed = options.repeats}, [&](int) {
    timer.start();
    tracks = find();
    return timer.stop();
  });

  Json report;
  report["parameters"] = parameters_json(parameters_of(tracking));
  add_device(report, info);
  add_times(report, size, times);
  std::string text = times_text("tracks", info, size, times);
  if (sift) {
    add_sift(report["parameters"]);
    text += fmt::format("{} features are matched, at most {}\n", tracks.size(), tracking.max_features);
  } else {
    const Size cells = feature_grid(size, tracking.max_features);
    const int asked = cells.width * cells.height;
    report["columns"] = cells.width;
    report["rows"] = cells.height;
    report["cells"] = asked;
    text += fmt::format("{} of {} features ({} x {} cells) are kept\n", tracks.size(), asked, cells.width,
                        cells.height);
  }
  report["kept"] = tracks.size();
  if (truth.u) {
    const TrackScores scores = scores_of(tracks, truth);
    report["epe"] = scores.mean;
    report["epe_median"] = scores.median;
    report["known"] = scores.count;
    text += scores.count == 0
                ? "no track begins at a pixel with known truth\n"
                : fmt::format("end point error: mean {:.4f} px, median {:.4f} px, of {} tracks\n",
                              scores.mean, scores.median, scores.count);
  }
  {
    const WhileWriting whole;
    if (!options.output.empty()) write_tracks(options.output, tracks);
    if (!options.color.empty()) write_frame(options.color, picture_of(frames[0], tracks));
  }
  if (options.json)
    print(json_text(report));
  else if (!options.quiet)
    print(text);
}

}  // namespace

void add_tracks(App& program) {
  const auto options = std::make_shared<Command>();
  App command = program.add_subcommand("tracks", "Find features in a frame and track them to the next one");
  command.add_option("FRAME0", options->frame0, "first frame: PNG, JPEG, PGM, PPM or PFM")
      .required()
      .type_name("FILE");
  command.add_option("FRAME1", options->frame1, "next frame of the same size").required().type_name("FILE");
  command
      .add_option("-o,--output", options->output,
                  "write the tracks: .csv or .txt, one line x,y,u,v for each, px")
      .type_name("FILE");
  command
      .add_option("--color", options->color,
                  "write a picture: .png or .ppm; the first frame with an arrow for each track")
      .type_name("FILE");
  command
      .add_option(
          "--gt", options->truth,
          "true flow to compare with, at the pixel nearest to each feature: .flo, .pfm, .npy or KITTI "
          ".png; unknown flow does not count")
      .type_name("FILE");
  command
      .add_option("--repeat", options->repeats,
                  "number of timed calls, allocations included, after one that is not timed; their median is "
                  "reported")
      .type_name("N")
      .range(1, 1000000)
      .capture_default_str();
  command.add_flag("--json", options->json, "print the report as one JSON object");
  command.add_flag("-q,--quiet", options->quiet, "print no text report");
  options->device.add_to(command);
  options->tracking.add_to(command);
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
