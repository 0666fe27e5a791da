// SPDX-License-Identifier: MIT
#include <cmath>

#include "commands.hpp"
#include "estimation.hpp"
#include "frames.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

struct TracksOptions : ReportOptions {
  int repeats = 0;
  std::string frame0, frame1, output, color, truth;
  FrameOptions reading;
  ParameterOptions tracking;
  DeviceOptions device;
};

struct TrackScores {
  double mean = NAN, median = NAN;  // px
  int count = 0;                    // tracks with known truth
};

/// Returns the scores of tracks, compared with the true flow at the nearest pixel.
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

/// Drops tracks that begin or end at a pixel without a value (nearest pixel).
void drop_unknown(std::vector<Track>& tracks, const KnownPixels& known0, const KnownPixels& known1) {
  const auto is_unknown = [](const KnownPixels& known, float x, float y) {
    if (!known) return false;
    const auto nearest = [](float at, int side) { return std::clamp(int(std::lround(at)), 0, side - 1); };
    return known(nearest(x, known.size().width), nearest(y, known.size().height)) == 0;
  };
  std::erase_if(tracks, [&](const Track& track) {
    return is_unknown(known0, track.x, track.y) || is_unknown(known1, track.x + track.u, track.y + track.v);
  });
}

/// Returns the frame with an arrow from each feature to its match.
FrameBuffer picture_of(const Frame& frame, const std::vector<Track>& tracks) {
  FlowField flow(frame.size());  // valid nowhere
  for (const Track& track : tracks) {
    const int x = int(std::lround(track.x)), y = int(std::lround(track.y));
    flow.u(x, y) = track.u;
    flow.v(x, y) = track.v;
    flow.valid(x, y) = 1;
  }
  return draw_arrows(frame, flow, {.step = 1, .scale = 1});
}

void run(const TracksOptions& options) {
  FeatureTracking tracking;
  typed([&] { options.tracking.set(tracking); });
  check_feature_parameters(options.tracking.named(), tracking.features);
  const Device device = options.device.device();
  check_outputs({{"-o", options.output, {".csv", ".txt"}}, {"--color", options.color, picture_extensions}},
                {options.frame0, options.frame1, options.truth, options.reading.mask});
  const DeviceInfo info = describe_device(device);
  const auto [frames, known, notes] =
      read_frames({options.frame0, options.frame1}, options.reading, 2, options.quiet, "tracks");
  const Size size = frames[0].size();
  const FlowField truth = read_like(options.truth, options.frame0, size, read_flow);

  const FrameBuffer there[] = {frames[0].to(memory_of(device)), frames[1].to(memory_of(device))};
  const auto find = [&, &masks = known] {
    std::vector<Track> all = find_tracks(there[0], there[1], tracking, device);
    drop_unknown(all, masks[0], masks[1]);
    return all;
  };
  Timer timer(Device::cpu());
  timer.start();
  const std::vector<Track> tracks = find();
  Times times = time_of_first(timer.stop());
  if (options.repeats > 0) times = measure({.fixed = options.repeats}, timer, [&](int) { find(); });

  Report report = begin_report("tracks");
  add_range(report, frames[0].range());
  add_notes(report, notes);
  report.json["parameters"] = parameters_json(parameters_of(tracking));
  add_times(report, "tracks", info, size, times);
  const Size cells = feature_grid(size, tracking.max_features);
  const int asked = cells.width * cells.height;
  report.json["columns"] = cells.width;
  report.json["rows"] = cells.height;
  report.json["cells"] = asked;
  report.text += fmt::format("{} of {} features ({} x {} cells) are kept\n", tracks.size(), asked,
                             cells.width, cells.height);
  report.json["kept"] = tracks.size();
  if (truth.u) {
    const TrackScores scores = scores_of(tracks, truth);
    report.json["epe"] = scores.mean;
    report.json["epe_median"] = scores.median;
    report.json["known"] = scores.count;
    report.text += scores.count == 0
                       ? "no track begins at a pixel with known truth\n"
                       : fmt::format("end point error: mean {:.4f} px, median {:.4f} px, of {} tracks\n",
                                     scores.mean, scores.median, scores.count);
  }
  {
    const WhileWriting whole;
    if (!options.output.empty()) write_tracks(options.output, tracks);
    if (!options.color.empty()) write_frame(options.color, picture_of(frames[0], tracks));
  }
  add_files(report, {options.output, options.color});
  options.print(report);
}

}  // namespace

void add_tracks(App& program) {
  auto [command, options] = add_command<TracksOptions>(
      program, "tracks", "Find features in a frame and track or match them to the next one", run);
  command.add_option("FRAME0 FILE", options.frame0, fmt::format("first frame: {}", frame_formats));
  command.add_option("FRAME1 FILE", options.frame1, "next frame of the same size");
  command.add_option("-o,--output FILE", options.output,
                     "write the tracks: .csv or .txt. A line has one track, x,y,u,v, in px");
  command.add_option(
      "--color FILE", options.color,
      fmt::format("draw them over the first frame: {}. Each track is an arrow", picture_formats));
  command.add_option("--gt FILE", options.truth,
                     "true flow to compare with: .flo, .pfm, .npy or .png. It is compared at the pixel "
                     "nearest to each feature. Unknown flow does not count");
  options.reading.add_to(command);
  options.reading.add_mask_to(command);
  add_repeats(command, options.repeats);
  options.add_to(command);
  options.device.add_to(command);
  const std::vector<ParameterValue> parameters = parameters_of(FeatureTracking{});
  options.tracking.add_parameters(command, {{FeatureTracking::name, parameters}});
  command.before_help([&tracking = options.tracking] { tracking.show_only(FeatureTracking::name); });
  command.examples({"tracks a.png b.png -o tracks.csv --color tracks.png",
                    "tracks a.png b.png --features corners --max-features 500 --json",
                    "tracks a.png b.png --features matches -o matches.csv",
                    "flow a.png b.png -m direct-interpolation --tracks tracks.csv"});
}

}  // namespace parafield::command
