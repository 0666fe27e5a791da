// SPDX-License-Identifier: MIT
#include "flow.hpp"

#include <cmath>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "fields.hpp"
#include "interrupt.hpp"
#include "series.hpp"

namespace parafield::command {

/// The options with the examination of frames.
static FlowOptions examining(FlowOptions options) {
  options.examine_frames = true;
  return options;
}

FlowSequence::FlowSequence(const std::vector<std::string>& files, const FrameOptions& reading, int ahead,
                           bool quiet, const FlowMethod& method, const FlowOptions& task)
    : source(files, reading, ahead, quiet),
      estimator(method, source.size(), examining(task)),
      middle_((frames_of(method) - 1) / 2),
      quiet_(quiet),
      timer_(Device::cpu()),
      whole_(Device::cpu()) {
  source.need(frames_of(method));
  if (const int window = frames_of(method); source.count() < window)
    throw UsageError(
        fmt::format("FRAMES: {} takes {} frames or more, not {}", name_of(method), window, source.count()));
  whole_.start();
}

bool FlowSequence::next(FlowField& flow) {
  while (std::optional<InputFrame> frame = source.next()) {
    if (frame->skipped > 0) {
      estimator.reset();
      frames.clear();
      pushed_ = 0;
    }
    timer_.start();
    const bool complete = estimator.push(frame->frame, flow);
    const double time = timer_.stop();
    if (pushed_++ >= middle_) frames.push_back(std::move(*frame));
    if (!complete) continue;
    milliseconds_.push_back(time);
    number_ = int(frames[0].index) - middle_ + 1;
    unusable_.add(estimator.frames_state(), number_);
    mark_unknown(flow, frames[0].known, frames[1].known);
    return true;
  }
  return false;
}

InputFrame FlowSequence::take_frame() {
  InputFrame frame = std::move(frames.front());
  frames.pop_front();
  return frame;
}

void FlowSequence::add_to(Report& report, std::string_view method, const DeviceInfo& info, const char* noun) {
  const double seconds = whole_.stop() / 1000;
  add_times(report, method, info, source.size(), times_of(milliseconds_));
  report.json["frames"] = source.count();
  add_series(report, fmt::format("{} frames, ", source.count()), "flow", int(milliseconds_.size()), seconds);
  add_range(report, source.range());
  add_notes(report, source.notes());
  add_frames(report.json, unusable_, noun, quiet_);
}

namespace {

/// Optional inputs of a flow in addition to the frames.
struct GuideOptions {
  std::string tracks, rotation, intrinsics;
  std::vector<Option> options;

  void add_to(App& command);
  /// The camera's rotation, if given. Throws UsageError.
  std::optional<CameraRotation> camera() const;
};

struct FlowCommandOptions : EstimationOptions<Flow> {
  std::vector<std::string> frames;
  std::string flow, valid, confidence, color;  // output files
  FrameOptions reading;
  GuideOptions guides;
  TruthOptions truth;
  PictureOptions picture;
  ErrorBarFiles bars;

  std::vector<Output> outputs() const {
    std::vector<Output> all = {{"-o", flow, {".flo", ".png", ".pfm", ".npy"}},
                               {"--valid", valid, {".png", ".pgm"}},
                               {"--confidence", confidence, confidence_extensions},
                               {"--color", color, picture_extensions}};
    for (Output& output : bars.outputs()) all.push_back(std::move(output));
    return all;
  }
  void expand() { expand_names(frames); }
  std::vector<Path> inputs() const {
    std::vector<Path> all(frames.begin(), frames.end());
    all.insert(all.end(), {truth.truth, truth.mask, guides.tracks, reading.mask});
    return all;
  }
  /// Writes flow `number` of a series, 0 without one, and its picture. `frame` is the frame whose pixels the
  /// flow belongs to.
  void write(const PictureOptions& drawn, const FlowField& field, const Frame& frame, int number) const;
};

void GuideOptions::add_to(App& command) {
  const Option given = command.add_option("--tracks FILE", tracks),
               angles = command.add_option("--rotation X,Y,Z", rotation),
               camera = command.add_option("--intrinsics FX,FY,CX,CY", intrinsics);
  options = {given, angles, camera};
  for (const Option each : options) each.group("Input of the methods that start from features");
  given.help(
      "tracks to use instead of finding some. The file has a line of x,y,u,v, px, for each. parafield "
      "tracks writes one, as other matchers do");
  angles.needs(camera).help(
      "turn of the scene about the camera's axes, radians. The axes are x (right), y (down) and z (forward). "
      "Its flow is one more hypothesis");
  camera.needs(angles).help(
      "with --rotation: focal lengths and center, px. The center is the principal point");
}

std::optional<CameraRotation> GuideOptions::camera() const {
  if (rotation.empty()) return {};
  const std::vector<float> turn = parse_numbers(rotation, 3, "--rotation"),
                           k = parse_numbers(intrinsics, 4, "--intrinsics");
  const CameraRotation camera{turn[0], turn[1], turn[2], k[0], k[1], k[2], k[3]};
  typed([&] { check(camera); });
  return camera;
}

void FlowCommandOptions::write(const PictureOptions& drawn, const FlowField& field, const Frame& frame,
                               int number) const {
  const WhileWriting whole;
  if (!flow.empty()) write_flow(named(flow, number), field);
  if (!valid.empty()) write_mask(named(valid, number), field.valid);
  if (!confidence.empty()) write_confidence(named(confidence, number), field.confidence);
  bars.write(field, number);
  if (!color.empty()) write_frame(named(color, number), drawn.draw(field, frame));
}

/// Returns the usable tracks of a file: finite ones that begin in the frame. A note on stderr gives the
/// number of others. Throws Error if `needed` and no track is usable.
std::vector<Track> usable_tracks(const std::string& file, Size frame, bool needed, bool quiet) {
  std::vector<Track> tracks = read_tracks(file);
  const std::size_t all = tracks.size();
  const std::size_t not_finite = std::erase_if(tracks, [](const Track& track) {
    return !std::isfinite(track.x) || !std::isfinite(track.y) || !std::isfinite(track.u) ||
           !std::isfinite(track.v);
  });
  const std::size_t outside = std::erase_if(tracks, [&](const Track& track) {
    return track.x < 0 || track.y < 0 || track.x > float(frame.width - 1) ||
           track.y > float(frame.height - 1);
  });
  std::vector<std::string> why;
  if (not_finite > 0) why.push_back(fmt::format("{} not finite", not_finite));
  if (outside > 0)
    why.push_back(fmt::format("{} outside the frame of {}x{} px", outside, frame.width, frame.height));
  if (all == 0) why.emplace_back("the file has none");
  if (tracks.empty() && needed)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: no track can be used: {}", file, fmt::join(why, ", ")));
  const std::vector<ParameterValue> parameters = parameters_of(FeatureTracking{});
  const int most = std::get<int>(std::ranges::find(parameters, "max_features", &ParameterValue::name)->max);
  if (tracks.size() > std::size_t(most))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} tracks; at most {} can be used", file, tracks.size(), most));
  if (!why.empty() && !quiet)
    note(fmt::format("{}: {} of {} tracks can be used: {}", file, tracks.size(), all, fmt::join(why, ", ")));
  return tracks;
}

/// Returns the tracking parameters of a method, or null if it does not track.
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

/// Completes the report and prints it. `add_more` adds what only a single flow has after the findings.
template <class More>
void finish(Report& report, const FlowCommandOptions& options, const FlowFindings& findings,
            const PictureOptions& picture, More add_more) {
  add_findings(report, findings);
  add_more();
  add_files(report, names_of(options.outputs()));
  if (!options.color.empty()) {
    report.json[picture.arrows ? "arrow_scale" : "max_motion"] =
        json_of(picture.arrows ? picture.arrow.scale : picture.color.max_motion);
    report.text += picture.scale_text() + "\n";
  }
  options.print(report);
}

/// Estimates and writes the flow of each window of consecutive frames until the frames end.
void run_series(const FlowCommandOptions& options, const FlowMethod& method, FlowOptions task) {
  constexpr const char* flows = "flows";
  options.refuse(!options.truth.truth.empty(), "--gt", flows, "; parafield eval compares files");
  options.check_series_words(flows);
  options.refuse(!options.guides.tracks.empty(), "--tracks", flows);
  options.refuse(!options.guides.rotation.empty(), "--rotation", flows);
  const int window = frames_of(method), files = int(options.frames.size());
  const bool counted = files >= window;
  const int expected = std::max(files - window + 1, 1);  // more if a file has several frames
  check_series(options.outputs(), std::size_t(expected), options.inputs());
  const DeviceStart starting(options.device, false);
  task.device = options.device.device();
  const DeviceInfo info = describe_device(*task.device);

  FlowSequence sequence(options.frames, options.reading, window + (counted ? 1 : 0), options.quiet, method,
                        task);
  PictureOptions picture = options.picture;
  FlowFindings findings;
  SeriesWriter<FlowField> writer("flow");
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  writer.during([&] {
    while (sequence.next(writer.free(sequence.estimator))) {
      const int number = sequence.number();
      const bool is_first = writer.count() == 0;
      if (number > expected) check_outputs(numbered(options.outputs(), number), options.inputs());
      writer.begin([&, number, is_first,
                    frame = std::make_shared<InputFrame>(sequence.take_frame())](FlowField& field) {
        if (is_first && !options.color.empty()) picture.fit(field);  // the whole series shares one scale
        options.write(picture, field, frame->frame, number);
        findings.add(field, frame->known);
      });
      if (counted && sequence.source.count() <= files)
        line.update(double(number) / expected);
      else
        line.count(number, "flows");
    }
  });
  line.end();
  if (writer.count() == 0)
    throw Error(ErrorCode::format,
                fmt::format("no flow: {} takes {} frames without a damaged one between them", name_of(method),
                            window));

  Report report = options.begin("flow", method, sequence.source.size(), sequence.estimator.blocks());
  report.json.update(parameters_json(parameters_of(task)));
  sequence.add_to(report, name_of(method), info, "flow");
  finish(report, options, findings, picture, [] {});
}

void run(const FlowCommandOptions& options) {
  FlowMethod method = options.method.method();
  options.device.check();
  FlowOptions task = options.task;
  task.energies = options.energies(method);
  task.confidence = !options.confidence.empty();
  options.bars.ask(task);
  const int count = frames_of(method), middle = (count - 1) / 2;
  options.check_frames(method);
  FeatureTracking* const tracking = tracking_of(method);
  if (tracking) check_feature_parameters(options.method.named(), tracking->features);
  if (is_series(options.outputs())) return run_series(options, method, task);
  const std::string& tracks_file = options.guides.tracks;
  FlowInput given{.frames = {}, .rotation = options.guides.camera()};
  if (!tracking && (!tracks_file.empty() || given.rotation))
    throw UsageError(fmt::format("{}: {} does not use it", tracks_file.empty() ? "--rotation" : "--tracks",
                                 name_of(method)));
  if (int(options.frames.size()) > count && has_extension(options.frames.back(), ".flo"))
    throw UsageError(fmt::format("FRAMES: {0} is no frame; -o {0} writes it", options.frames.back()));
  check_outputs(options.outputs(), options.inputs());
  const DeviceStart starting(options.device, options.repeats == 0);

  const auto [frames, known, notes] =
      read_frames(options.frames, options.reading, count, options.quiet, name_of(method),
                  "; for a sequence name a series of files, like -o flow%04d.flo");
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);
  const FrameBuffer& frame = frames[std::size_t(middle)];
  const std::string& name = options.frames[std::min(std::size_t(middle), options.frames.size() - 1)];
  const FlowField truth = read_like(options.truth.truth, name, frame.size(), read_flow);
  const auto mask = read_like(options.truth.mask, name, frame.size(), read_mask);
  std::vector<Track> tracks;
  if (!tracks_file.empty()) {
    tracks = usable_tracks(tracks_file, frame.size(), !given.rotation, options.quiet);
    given.tracks = tracks;
    tracking->max_features = std::max(tracking->max_features, int(tracks.size()));
  }

  auto [flow, times, energies, blocks] = estimate<Flow>(method, device, frames, task, options, given);
  const FramesState state = examine<Flow>(flow, frames, task);
  mark_unknown(flow, known[std::size_t(middle)], known[std::size_t(middle) + 1]);
  Report report = options.begin("flow", method, frame.size(), blocks);
  if (given.tracks) report.json["tracks"] = tracks.size();
  report.json.update(parameters_json(parameters_of(task)));
  add_times(report, name_of(method), info, frame.size(), times);
  add_range(report, frame.range());
  add_notes(report, notes);
  add_state(report, state, options.quiet);
  FlowFindings findings;
  findings.add(flow, known[std::size_t(middle)]);
  PictureOptions picture = options.picture;
  if (!options.color.empty()) picture.fit(flow);
  finish(report, options, findings, picture, [&, &field = flow, &values = energies] {
    add_energies(report, task.energies, values);
    const EvaluationOptions how{
        .mask = mask, .valid_only = options.truth.valid_only, .confidence = task.confidence};
    if (truth.u) add_scores(report, evaluate(field, truth, how), how);
    if (truth.u && has_bars(field)) add_bar_scores(report, evaluate_error_bars(field, truth, how));
    options.write(picture, field, frame, 0);
  });
}

/// Returns examples for the method's own --help.
std::vector<std::string> examples_of(FlowMethod method) {
  const int count = frames_of(method);
  const std::string start = fmt::format(
      "flow {} -m {}", count == 2 ? "a.png b.png" : fmt::format("frame0[1-{}].png", count), name_of(method));
  std::vector<std::string> lines = {start + " -o flow.flo", start + " --preset accurate"};
  if (tracking_of(method)) lines.push_back(start + " --tracks tracks.csv");
  return lines;
}

}  // namespace

void add_flow(App& program) {
  auto [command, options] = add_command<FlowCommandOptions>(
      program, "flow", "Estimate the optical flow from one frame to the next", run);
  command.add_option(
      "FRAMES FILE", options.frames,
      fmt::format(
          "frames in time order: {}. All have one size. A folder, a pattern (frame%04d.png) or a name "
          "with wildcards in quotes is taken in order of numbers. The flow is that of the first of two "
          "frames, or of the middle one where the method takes more",
          frame_formats));
  command.add_option("-o,--output FILE", options.flow,
                     "write the flow: .flo, .pfm, .npy or KITTI's .png. A .png has 16 bit and is no picture "
                     "to look at; --color draws one. A name with a number is a series, for any "
                     "number of frames: of flow%04d.flo, flow0001.flo is that of the first pair");
  command.add_option("--valid FILE", options.valid,
                     "write where the flow is valid: .png or .pgm. Valid pixels are 255, others 0");
  command.add_option(
      "--confidence FILE", options.confidence,
      "write the confidence: .pfm or .npy. With --gt, how it ranks the errors is scored, too (AUC)");
  options.bars.add_to(command, Task::flow);
  Option color = command.add_option("--color FILE", options.color,
                                    fmt::format("write a picture of the flow: {}", picture_formats));
  options.picture.add_to(command, color);
  for (const char* of_colors : {"--legend", "--max-motion"}) command.get_option(of_colors).needs(color);
  options.reading.add_to(command);
  options.reading.add_mask_to(command);
  FrameOptions::add_skip_to(command, options.reading.skip_damaged, "flow");
  options.guides.add_to(command);
  options.truth.add_to(command, "true flow to compare with: .flo, .pfm, .npy or .png");
  options.add_to(command);
  command.leave_out_of_help({"--min-confidence", "--prefilter", "--aggregation-sigma", "--texture-aware",
                             "--uniqueness", "--block-overlap", "--match-stride", "--match-levels",
                             "--match-iterations", "--match-check", "--match-region", "--skip-damaged",
                             "--refine-sweeps", "--refine-data", "--refine-back", "--refine-median",
                             "--refine-smoothness", "--shrinkage", "--finest-iterations"});
  command.examples({"flow a.png b.png -o flow.flo --color flow.png",
                    "flow a.png b.png --gt truth.flo --preset fast --json",
                    "flow frame*.png -o flow%04d.flo"});
  command.before_help([command = command, &guides = options.guides, &method = options.method] {
    FlowMethod chosen = method.named_method();
    if (!tracking_of(chosen))
      for (const Option each : guides.options) each.group("");
    if (frames_of(chosen) != 2) command.get_option("--fb-check").group("");
    if (name_of(chosen) != name_of(FlowMethod{})) command.examples(examples_of(chosen));
  });
}

}  // namespace parafield::command
