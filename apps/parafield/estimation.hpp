// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>

#include "files.hpp"
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

  /// Adds the options and returns --gt, whose help is `help`.
  Option add_to(App& command, const std::string& help);
};

/// --repeat, --json, --quiet.
struct ReportOptions {
  int repeats = 1;
  bool json = false, quiet = false;

  /// Adds the options. `included` says in the help of --repeat what the time includes.
  void add_to(App& command, const std::string& included = "");
  void print(const Report& report) const;
};

/// Visitor for describe() that adds the options of a task: --fb-check, --speckle and so on.
struct TaskOptions {
  App& command;

  template <class T>
  void operator()(T& field, const Parameter<T>& parameter) const;  ///< T: bool, int, float
};

/// Adds --energy.
void add_energy(App& command, std::string& energy);
/// Value of --energy for a method. Throws UsageError if it does not minimize an energy.
EnergyReport energy_report(const std::string& energy, std::string_view method, bool minimizes);

/// Adds levels_used for belief propagation. If they are fewer than `asked`, a note on stderr says so.
void add_levels(Report& report, int asked, Size image, Size block, bool quiet);

/// Options of a command that estimates.
template <class Task>
struct EstimationOptions : ReportOptions {
  using Methods = typename Task::Method;

  std::string energy = "none";
  DeviceOptions device;
  typename Task::Options task;
  MethodOptions<Methods> method;

  /// `own`: a value of a parameter that is the command's own.
  void add_to(App& command, const CommandValue* own = nullptr) {
    add_energy(command, energy);
    ReportOptions::add_to(command);
    device.add_to(command);
    describe(task, TaskOptions{command});
    method.add_to(command, own);
  }

  /// Value of --energy. Throws UsageError if the method minimizes no energy.
  EnergyReport energies(const Methods& chosen) const {
    const bool minimizes =
        std::visit([]<class Method>(const Method&) { return LabelMethod<Method>; }, chosen);
    return energy_report(energy, name_of(chosen), minimizes);
  }

  /// A report that begins with the method, its preset and parameters and, for adaptive ridge and belief
  /// propagation, levels_used.
  Report begin(const Methods& chosen, Size image) const {
    Report report;
    report.json["method"] = name_of(chosen);
    if (!method.preset.empty()) report.json["preset"] = method.preset;
    report.json["parameters"] = parameters_json(parameters_of(chosen));
    std::visit(
        [&](const auto& one) {
          if constexpr (requires { one.block_overlap; })
            add_levels(report, one.levels, image, block_size(image, one.blocks, one.block_overlap), quiet);
          else if constexpr (requires { levels_of(one, image); })
            report.json["levels_used"] = levels_of(one, image);
        },
        chosen);
    return report;
  }
};

template <class Task>
struct Estimate {
  typename Task::Result result;  // in host memory
  Times times;
  std::vector<double> energies;
};

/// Input of an estimator: the frames and the other inputs of `given`, copied to the memory of its device.
template <class Task>
class Resident {
 public:
  Resident(const std::vector<FrameBuffer>& frames, const typename Task::Input& given, Memory memory)
      : input_(given) {
    for (const FrameBuffer& frame : frames) frames_.push_back(held_.emplace_back(frame.to(memory)));
    input_.frames = frames_;
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

/// Estimates and times. The frames are on the device before the clock starts, and a first call, which
/// allocates, is not timed. Energies come from an estimator of their own, which is not timed. Progress is
/// shown for calls that are not timed.
template <class Task>
Estimate<Task> estimate(const typename Task::Method& method, const Device& device,
                        const std::vector<FrameBuffer>& frames, typename Task::Options options,
                        const ReportOptions& run, const typename Task::Input& given = {}) {
  const Resident<Task> resident(frames, given, memory_of(device));
  const Size size = frames[0].size();
  Estimate<Task> estimated;
  ProgressLine line(!run.quiet);
  options.device = device;
  options.progress = line.callback();
  if (options.energies != EnergyReport::none) {
    Estimator<Task> estimator(method, size, options);
    line.begin("estimating for --energy");
    estimator(resident);
    estimated.energies = estimator.energies();
    options.energies = EnergyReport::none;
  }
  // Progress must not disturb timed calls. On the CPU the callback returns at once then. On a GPU even that
  // would interrupt the kernels, so another estimator shows the progress.
  if (options.progress && device.kind == Device::Kind::cuda) {
    Estimator<Task> shown(method, size, options);
    line.begin("estimating");
    shown(resident);
    shown.synchronize();
    options.progress = {};
  }
  Estimator<Task> estimator(method, size, options);
  Timer timer(device, estimator.stream());
  line.begin("estimating");
  const typename Task::Result* result = &estimator(resident);
  estimator.synchronize();
  line.announce(run.repeats == 1 ? "timing it" : fmt::format("timing it {} times", run.repeats),
                run.repeats * line.elapsed());
  estimated.times = measure({.fixed = run.repeats}, timer, [&](int) { result = &estimator(resident); });
  estimator.synchronize();
  estimated.result = result->to(Memory::host());
  return estimated;
}

/// Adds device, width, height, repeats and milliseconds, and the text "icm on cpu (...): 640x480, 1.234 ms".
void add_times(Report& report, std::string_view method, const DeviceInfo& info, Size size,
               const Times& times);

/// Adds energy: a number for the result, a list for the sweeps.
void add_energies(Report& report, EnergyReport asked, const std::vector<double>& energies);

/// Number of pixels that are not 0.
std::int64_t count_of(const Image<std::uint8_t>& mask);

}  // namespace parafield::command
