// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "frames.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

/// Shared by the commands flow, stereo, detect and tracks.
namespace parafield::command {

/// --gt, --mask, --valid-only.
struct TruthOptions {
  std::string truth, mask;
  bool valid_only = false;

  /// Adds the options and returns --gt, which gets `help` as its help text.
  Option add_to(App& command, const std::string& help);
};

/// --json, --quiet.
struct ReportOptions {
  bool json = false, quiet = false;

  void add_to(App& command);
  /// Prints the report. If standard output `is_taken` by results, prints its text on stderr unless `quiet`.
  void print(const Report& report, bool is_taken = false) const;
};

/// Adds --repeat, the number of timed calls.
void add_repeats(App& command, int& repeats);

/// Visitor for describe() that adds the options of a task: --fb-check, --speckle and so on.
struct TaskOptions {
  App& command;
  const char* group = "What is done with the result, in this order";

  template <class T>
  void operator()(T& field, const Parameter<T>& parameter) const;  ///< T: bool, int, float
};

/// Adds --energy.
Option add_energy(App& command, std::string& energy);
/// Returns the value of --energy for a method. Throws UsageError if the method does not minimize an energy.
EnergyReport energy_report(const std::string& energy, std::string_view method, bool minimizes);

/// Adds levels_used for belief propagation. If fewer levels than `asked` are used, a note on stderr says so.
void add_levels(Report& report, int asked, Size image, Size block, bool quiet);
/// Adds blocks_used and, if there are several blocks, block_margin and seamless. If there are several
/// although `asked` is 0 (automatic), a note on stderr says so.
void add_blocks(Report& report, int asked, const SolvedBlocks& used, bool quiet);

/// Adds the levels and blocks that belief propagation used, or the levels_used of adaptive ridge.
template <class Method>
void add_divisions(Report& report, const Method& method, Size image, const SolvedBlocks& used, bool quiet) {
  if constexpr (requires { method.block_overlap; }) {
    add_levels(report, method.levels, image, used.size, quiet);
    add_blocks(report, method.blocks, used, quiet);
  } else if constexpr (requires { levels_of(method, image); }) {
    report.json["levels_used"] = levels_of(method, image);
  }
}

/// Options of a command that runs an estimator.
template <class Task>
struct EstimatorOptions : ReportOptions {
  using Methods = typename Task::Method;

  DeviceOptions device;
  typename Task::Options task;
  MethodOptions<Methods> method;

  void add_to(App& command) {
    ReportOptions::add_to(command);
    device.add_to(command);
    if constexpr (Task::learns)
      describe(task, TaskOptions{command, "Options"});
    else
      describe(task, TaskOptions{command});
    method.add_to(command);
  }

  /// Begins the command's report with the method, its preset and parameters.
  Report begin(const char* command, const Methods& chosen) const {
    Report report = begin_report(command);
    report.json["method"] = name_of(chosen);
    if (!method.preset.empty()) report.json["preset"] = method.preset;
    report.json["parameters"] = parameters_json(parameters_of(chosen));
    return report;
  }
  /// The same, with the levels and blocks of add_divisions().
  Report begin(const char* command, const Methods& chosen, Size image, const SolvedBlocks& used) const {
    Report report = begin(command, chosen);
    std::visit([&](const auto& one) { add_divisions(report, one, image, used, quiet); }, chosen);
    return report;
  }

  /// Throws UsageError if --fb-check is given for a method of more than two frames.
  void check_frames(const Methods& chosen) const {
    if (const int frames = frames_of(chosen); task.fb_check > 0 && frames != 2)
      throw UsageError(fmt::format("--fb-check needs a method of two frames, not of {}", frames));
  }
};

/// Options of a command that may also estimate once, from few frames: it can repeat the call, and report the
/// energy.
template <class Task>
struct EstimationOptions : EstimatorOptions<Task> {
  using Methods = typename Task::Method;

  int repeats = 0;  ///< timed calls; 0: the estimating call itself is timed
  std::string energy = "none";

  void add_to(App& command) {
    const Option energies = add_energy(command, energy);
    add_repeats(command, repeats);
    EstimatorOptions<Task>::add_to(command);
    command.before_help([this, energies] {
      if (!minimizes(this->method.named_method())) energies.group("");
    });
  }

  /// Returns the value of --energy. Throws UsageError if the method does not minimize an energy.
  EnergyReport energies(const Methods& chosen) const {
    return energy_report(energy, name_of(chosen), minimizes(chosen));
  }

  /// Throws UsageError for options that estimate once, because a series of `things` is given.
  void check_series_words(const char* things) const {
    refuse(repeats > 0, "--repeat", things, ", each of which is timed");
    refuse(energy != "none", "--energy", things);
  }
  static void refuse(bool given, const char* option, const char* things, const char* instead = "") {
    if (given) throw UsageError(fmt::format("{} is not for a series of {}{}", option, things, instead));
  }

 private:
  /// Whether the method minimizes an energy.
  static bool minimizes(const Methods& chosen) {
    return std::visit([]<class Method>(const Method&) { return LabelMethod<Method>; }, chosen);
  }
};

template <class Task>
struct Estimate {
  typename Task::Result result;  // in host memory
  Times times;
  std::vector<double> energies;
  SolvedBlocks blocks;
};

/// Examines the frames of a result, and marks its pixels as not valid if that makes them unreliable.
template <class Task>
FramesState examine(typename Task::Result& result, const std::vector<FrameBuffer>& frames,
                    const typename Task::Options& options) {
  return withhold<Task>(result, examine_frames(std::vector<Frame>(frames.begin(), frames.end())), options);
}

/// Input of an estimator: the frames and the other inputs in `given`. If the device has memory of its own,
/// frames and tracks are copied there.
template <class Task>
class Resident {
 public:
  Resident(const std::vector<FrameBuffer>& frames, const typename Task::Input& given, Memory memory)
      : input_(given) {
    for (const FrameBuffer& frame : frames)
      frames_.push_back(memory.on_host() ? frame.frame() : held_.emplace_back(frame.to(memory)).frame());
    input_.frames = frames_;
    if (memory.on_host()) return;
    if constexpr (requires { given.tracks; }) {
      if (!given.tracks || given.tracks->empty()) return;
      const std::span<const Track> tracks = *given.tracks;
      Image<Track> host({int(tracks.size()), 1});
      std::ranges::copy(tracks, &host(0, 0));
      tracks_ = host.to(memory);
      input_.tracks = std::span<const Track>(std::as_const(tracks_).view().data, tracks.size());
    }
  }

  operator const typename Task::Input &() const { return input_; }

 private:
  std::vector<FrameBuffer> held_;
  std::vector<Frame> frames_;
  Image<Track> tracks_;
  typename Task::Input input_;
};

/// Times calls of a separate estimator, after one untimed call. Progress and energies are off, because they
/// would distort the times.
template <class Task>
Times time_calls(const typename Task::Method& method, Size size, typename Task::Options options,
                 const Resident<Task>& input, int repeats) {
  options.progress = {};
  options.energies = EnergyReport::none;
  Estimator<Task> estimator(method, size, options);
  estimator(input);
  Timer timer(*options.device, estimator.stream());
  return measure({.fixed = repeats}, timer, [&](int) { estimator(input); });
}

/// Estimates once and times the call, without copying the frames to the device. With --repeat, further calls
/// are timed instead. `prepare` is called before the estimate and `finish` after it, with the estimator.
template <class Task>
Estimate<Task> estimate(const typename Task::Method& method, const Device& device,
                        const std::vector<FrameBuffer>& frames, typename Task::Options options,
                        const EstimationOptions<Task>& run, const typename Task::Input& given = {},
                        const std::function<void(Estimator<Task>&)>& prepare = {},
                        const std::function<void(Estimator<Task>&)>& finish = {}) {
  const Resident<Task> resident(frames, given, memory_of(device));
  const Size size = frames[0].size();
  ProgressLine line(!run.quiet);
  options.device = device;
  options.progress = line.callback();
  Estimator<Task> estimator(method, size, options);
  if (prepare) prepare(estimator);
  line.begin("estimating");
  Timer timer(Device::cpu());
  timer.start();
  const Memory memory = memory_of(device);
  typename Task::Result result;
  if (memory.on_host()) result = estimator.new_result();
  const typename Task::Result& solved =
      memory.on_host() ? (estimator(resident, result), result) : estimator(resident);
  estimator.synchronize();
  const double milliseconds = timer.stop();
  if (!memory.on_host()) result = solved.to(Memory::host());
  Estimate<Task> estimated{std::move(result), time_of_first(milliseconds), {}, estimator.blocks()};
  if (options.energies != EnergyReport::none) estimated.energies = estimator.energies();
  if (finish) finish(estimator);
  if (run.repeats > 0) {
    line.announce(run.repeats == 1 ? "timing it" : fmt::format("timing it {} times", run.repeats),
                  (run.repeats + 1) * milliseconds / 1000);
    estimated.times = time_calls<Task>(estimator.method(), size, options, resident, run.repeats);
  }
  return estimated;
}

/// Adds device, width, height, repeats and milliseconds, and the text "icm on cpu (...): 640x480, 1.234 ms".
void add_times(Report& report, std::string_view method, const DeviceInfo& info, Size size,
               const Times& times);

/// Adds the state of the frames if they are not usable, and prints a note unless `quiet`.
void add_state(Report& report, FramesState state, bool quiet);

/// Adds cuts and without_texture to JSON if there are any, and prints notes unless `quiet`. `what`: the
/// results, such as "flow" or "clip.mp4: flow".
void add_frames(Json& json, const FramesFindings& findings, const std::string& what, bool quiet);

/// Adds the energies: one number for the result, or a list with one per sweep.
void add_energies(Report& report, EnergyReport asked, const std::vector<double>& energies);

/// Adds the number of results, which are called `noun`, and the seconds of a series. The text begins with
/// `of`, such as "5 frames, ".
void add_series(Report& report, const std::string& of, const char* noun, int count, double seconds);

/// Statistics of the motion of the valid pixels of one or more flow fields.
struct FlowFindings {
  std::int64_t pixels = 0, valid = 0, masked = 0;  ///< masked: pixels without a value in the frame
  double sum = 0, largest = 0;                     ///< lengths of motion vectors, px

  void add(const FlowField& flow, const KnownPixels& known);
};

/// Adds the share of valid pixels, their mean and largest motion, and masked if it is not 0.
void add_findings(Report& report, const FlowFindings& findings);

/// Statistics of the valid pixels of one or more disparity fields.
struct DisparityFindings {
  std::int64_t pixels = 0, valid = 0, masked = 0;
  float least = INFINITY, largest = -INFINITY;

  void add(const DisparityField& disparity, const KnownPixels& known);
};

/// Adds the share of valid pixels, and their smallest and largest disparity.
void add_findings(Report& report, const DisparityFindings& findings);

/// Adds the names of the written files, or the pattern of a series. Empty names are ignored.
void add_files(Report& report, const std::vector<std::string>& names);

}  // namespace parafield::command
