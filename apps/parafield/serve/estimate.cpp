// SPDX-License-Identifier: MIT
#include <chrono>

#include "estimation.hpp"
#include "serve/answers.hpp"

namespace parafield::command {
namespace {

/// Limits of a request: the number of frames, and their pixels together as a multiple of the limit for one
/// frame.
constexpr std::size_t most_frames = 64;
constexpr double most_frames_pixels = 10;
/// A shorter call is repeated once, to show the time without first-call costs.
constexpr double short_milliseconds = 500;

std::string text_in(const Json& head, const char* key) {
  const auto found = head.find(key);
  return found != head.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Sets the parameters in the object `key`, which are text, numbers or booleans.
template <class Parameters>
void set_all(Parameters& parameters, const Json& head, const char* key) {
  const auto given = head.find(key);
  if (given == head.end() || !given->is_object()) return;
  for (const auto& [name, value] : given->items())
    if (!set_parameter(parameters, name, value.is_string() ? std::string(value) : value.dump()))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} has no parameter {}", Parameters::name, detail::quoted(name)));
}

template <class Methods>
Methods asked_method(const Json& head) {
  Methods chosen = method_named<Methods>(text_in(head, "method"));
  const std::string name = text_in(head, "preset");
  std::visit(
      [&]<class Method>(Method& method) {
        if (!name.empty()) method = preset<Method>(name);
        set_all(method, head, "parameters");
        check(method);
      },
      chosen);
  return chosen;
}

double timed(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/// The frames of a request, with a value at every pixel.
struct AskedFrames {
  std::vector<FrameBuffer> frames;
  std::vector<KnownPixels> known;
  std::vector<Frame> views;
  std::vector<std::string> notes;

  /// `fills`: fill in pixels without a value. For motion detection this is false, because its methods handle
  /// them.
  AskedFrames(const Uploads& uploads, bool fills, double most_pixels, ServeJobs::Job& job) {
    FrameOptions reading;
    reading.fills = fills;
    reading.use = fills ? RangeUse::matching : RangeUse::detection;
    InputFrames source(uploads.paths(), reading, 2, true, {.format = "pictures"});
    while (std::optional<InputFrame> frame = source.next()) {
      const Size size = frame->frame.size();
      job.check();
      uploads.check_size(std::min(frames.size(), uploads.size() - 1), size);
      if (frames.size() == most_frames)
        throw Error(ErrorCode::invalid_argument, fmt::format("more than {} frames", most_frames));
      const double pixels = double(size.width) * size.height * double(frames.size() + 1);
      if (pixels > most_frames_pixels * most_pixels)
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format(
                "{} frames of {}x{} pixels are more than {:g} million pixels, {:g} times --max-pixels",
                frames.size() + 1, size.width, size.height, most_frames_pixels * most_pixels / 1e6,
                most_frames_pixels));
      frames.push_back(std::move(frame->frame));
      known.push_back(std::move(frame->known));
    }
    for (const std::string& note : source.notes()) notes.push_back(uploads.with_names(note));
    views.assign(frames.begin(), frames.end());
    if (views.size() < 2)
      throw Error(ErrorCode::invalid_argument, fmt::format("two frames are needed, not {}", views.size()));
  }
};

/// Returns the index of the frame that the result belongs to: the first of two, the middle one of more.
std::size_t own_frame(const Flow&, std::size_t frames) { return (frames - 1) / 2; }
std::size_t own_frame(const Stereo&, std::size_t) { return 0; }
std::size_t own_frame(const Detection&, std::size_t frames) { return frames - 1; }

/// Makes the estimator compute error bars, if the method has them.
void ask_for_bars(FlowOptions& options, const FlowMethod& method) {
  options.covariance = options.outlier = options.cause = has_error_bars(method);
}
void ask_for_bars(StereoOptions& options, const StereoMethod& method) {
  options.sigma = options.outlier = options.cause = has_error_bars(method);
}
void ask_for_bars(DetectionOptions&, const DetectionMethod&) {}

void add_bars(PackedAnswer& answer, const auto& field) {
  if (!field.outlier) return;
  answer.add("outlier", field.outlier);
  answer.add("cause", field.cause);
}

void add_result(PackedAnswer& answer, Report& report, const FlowField& flow, const Frame& frame,
                const KnownPixels& known) {
  answer.add("u", flow.u);
  answer.add("v", flow.v);
  answer.add("valid", flow.valid);
  if (flow.covariance) {
    answer.add("xx", flow.covariance.xx);
    answer.add("xy", flow.covariance.xy);
    answer.add("yy", flow.covariance.yy);
  }
  add_bars(answer, flow);
  const float scale = color_scale(flow);
  report.json["full_color"] = scale;
  answer.add("colors", color_flow(flow, {.max_motion = scale}));
  const int step = std::max(16, std::max(frame.width, frame.height) / 32);
  answer.add("arrows", draw_arrows(frame, flow, {.step = step}));
  answer.add("wheel", color_wheel(64));
  FlowFindings findings;
  findings.add(flow, known);
  add_findings(report, findings);
}

void add_result(PackedAnswer& answer, Report& report, const DisparityField& field, const Frame&,
                const KnownPixels& known) {
  answer.add("d", field.d);
  answer.add("valid", field.valid);
  if (field.sigma) answer.add("sigma", field.sigma);
  add_bars(answer, field);
  answer.add("colors", color_disparity(field));
  DisparityField ramp({128, 1});
  for (int x = 0; x < 128; ++x) ramp.d(x, 0) = float(x), ramp.valid(x, 0) = 1;
  answer.add("wheel", color_disparity(ramp));
  DisparityFindings findings;
  findings.add(field, known);
  add_findings(report, findings);
}

void add_result(PackedAnswer& answer, Report& report, const MotionMask& mask, const Frame& frame,
                const KnownPixels&) {
  answer.add("moving", mask.moving);
  answer.add("valid", mask.valid);
  answer.add("colors", overlay_mask(frame, mask));
  const double pixels = double(mask.size().width) * mask.size().height;
  report.json["moving"] = double(count_of(mask.moving)) / pixels;
  report.json["valid"] = double(count_of(mask.valid)) / pixels;
}

/// Lets the estimator examine a pair before it is solved, and reports what was found. Returns whether it is usable.
FramesState examine(Report& report, const AskedFrames& asked, StereoEstimator& estimator) {
  if (asked.views.size() != 2)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("stereo takes 2 frames, not {}", asked.views.size()));
  const auto number = [&] {
    return std::visit([](const auto& chosen) { return chosen.energy.disparities; }, estimator.method());
  };
  const int given = number();
  const PairFindings findings = estimator.examine(asked.views[0], asked.views[1]);
  const RowAlignment rows = measure_row_alignment(asked.views[0], asked.views[1], estimator.device());
  for (const std::string& warning : pair_warnings(findings, rows, given))
    report.json["warnings"].push_back(warning);
  report.json["disparities"] = number();
  return findings.textured ? FramesState::usable : FramesState::no_texture;
}

template <class Task>
PackedAnswer solve(const Json& head, const Uploads& uploads, const ServeOptions& serve, ServeResults& results,
                   ServeJobs::Job& job) {
  using Result = typename Task::Result;
  typename Task::Method method = asked_method<typename Task::Method>(head);
  typename Task::Options options;
  set_all(options, head, "options");
  const std::string device = text_in(head, "device");
  if constexpr (requires { options.confidence; }) options.confidence = false;
  ask_for_bars(options, method);
  options.device = parse_device(device.empty() ? serve.device.name : device, serve.device.threads);
  job.say("reading frames");
  AskedFrames asked(uploads, !std::is_same_v<Task, Detection>, serve.pixels(), job);
  job.await_turn();
  job.say("solving");
  Report report = begin_report("serve");
  options.progress = [&](double share) { job.say("solving", share); };
  options.examine_frames = !std::is_same_v<Task, Stereo>;  // a stereo pair is examined below
  report.json["warnings"] = asked.notes;
  Estimator<Task> estimator(method, asked.views[0].size(), options);
  FramesState state = FramesState::unknown;
  if constexpr (std::is_same_v<Task, Stereo>) {
    state = examine(report, asked, estimator);
    method = estimator.method();
  }
  Result result = estimator.new_result();
  double first = 0, second = 0;
  job.stoppable([&] { estimator.cancel(); },
                [&] {
                  if constexpr (std::is_same_v<Task, Detection>) {
                    for (const Frame& frame : asked.views) {
                      second = timed([&] { estimator.push(frame, result); });
                      state = std::max(state, estimator.frames_state());
                    }
                    first = second;
                  } else {
                    const auto call = [&] { estimator({.frames = asked.views}, result); };
                    first = second = timed(call);
                    if (first < short_milliseconds) second = timed(call);
                    if constexpr (std::is_same_v<Task, Stereo>)
                      withhold<Stereo>(result, state, options);
                    else
                      state = estimator.frames_state();
                  }
                });
  Json& warnings = report.json["warnings"];
  if (warnings.is_null()) warnings = Json::array();
  if (const std::string text = text_of(state);
      !text.empty() && std::ranges::find(warnings, Json(text)) == warnings.end())
    warnings.push_back(text);
  const std::size_t own = own_frame(Task(), asked.views.size());
  if constexpr (requires { mark_unknown(result, asked.known[0], asked.known[1]); })
    mark_unknown(result, asked.known[own], asked.known[own + 1]);

  report.json["method"] = name_of(method);
  report.json["preset"] = text_in(head, "preset");
  report.json["parameters"] = parameters_json(parameters_of(method));
  const DeviceInfo info = describe_device(*options.device);
  add_times(report, name_of(method), info, asked.views[0].size(), time_of_first(first));
  if (second != first) report.json["again_milliseconds"] = second;
  add_range(report, asked.views[0].range);
  add_notes(report, asked.notes);
  report.json["frame"] = own;
  PackedAnswer answer;
  add_result(answer, report, result, asked.views[own], asked.known[own]);
  report.json["result"] = results.keep(std::move(result));
  answer.head = std::move(report.json);
  return answer;
}

}  // namespace

PackedAnswer estimate_for_page(const PackedRequest& request, const ServeOptions& options,
                               ServeResults& results, ServeJobs::Job& job) {
  const std::string task = text_in(request.head, "task");
  if (request.files.size() > most_frames)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} files; at most {} are taken", request.files.size(), most_frames));
  const Uploads uploads(request.files, options.pixels());
  return uploads.naming_files([&] {
    if (task == "flow") return solve<Flow>(request.head, uploads, options, results, job);
    if (task == "stereo") return solve<Stereo>(request.head, uploads, options, results, job);
    if (task == "detect") return solve<Detection>(request.head, uploads, options, results, job);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no task {}; there are: flow, stereo, detect", detail::quoted(task)));
  });
}

}  // namespace parafield::command
