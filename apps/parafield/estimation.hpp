#pragma once
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

/// Shared by the commands flow, stereo and detect.
namespace parafield::command {

/// --gt, --mask, --valid-only.
struct TruthOptions {
  std::string truth, mask;
  bool valid_only = false;

  /// Adds the options and returns --gt, whose help is `help`.
  Option add_to(App& command, const std::string& help);
};

/// --energy, --repeat, --json, --quiet.
struct RunOptions {
  std::string energy = "none";
  int repeats = 1;
  bool json = false, quiet = false;

  void add_to(App& command);
  void print(const Json& report, const std::string& text) const;

  /// Value of --energy. Throws UsageError if the method minimizes no energy.
  template <class Methods>
  EnergyReport energies(const Methods& method) const {
    return energies(name_of(method),
                    std::visit([]<class Method>(const Method&) { return LabelMethod<Method>; }, method));
  }

 private:
  EnergyReport energies(std::string_view method, bool minimizes) const;
};

/// Adds the options of a task (--fb-check, --speckle and so on), from their descriptions.
class TaskOptions {
 public:
  template <class Options>
  static void add_to(App& command, Options& options) {
    TaskOptions visitor(command);
    describe(options, visitor);
  }

  void operator()(bool& field, const Parameter<bool>& parameter) const;
  void operator()(int& field, const Parameter<int>& parameter) const;
  void operator()(float& field, const Parameter<float>& parameter) const;

 private:
  explicit TaskOptions(App& command) : command_(command) {}

  App& command_;
};

/// Memory that the device reads fastest.
inline Memory memory_of(const Device& device) {
  return device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
}

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
                        const RunOptions& run, const typename Task::Input& given = {}) {
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
  estimated.times = measure({.fixed = run.repeats}, [&](int) {
    timer.start();
    result = &estimator(resident);
    return timer.stop();
  });
  estimator.synchronize();
  estimated.result = result->to(Memory::host());
  return estimated;
}

/// Adds method, preset and parameters.
void add_method(Json& report, std::string_view method, const std::string& preset,
                const std::vector<ParameterValue>& parameters);
template <class Methods>
void add_method(Json& report, const Methods& method, const std::string& preset) {
  add_method(report, name_of(method), preset, parameters_of(method));
}

/// Adds levels_used for adaptive ridge and belief propagation. If they are fewer than the parameter, a note
/// on stderr says so for belief propagation.
void add_levels(Json& report, int asked, Size image, Size block, bool quiet);
template <class Methods>
void add_levels(Json& report, const Methods& methods, Size image, bool quiet) {
  std::visit(
      [&](const auto& method) {
        if constexpr (requires { method.block_overlap; })
          add_levels(report, method.levels, image, block_size(image, method.blocks, method.block_overlap),
                     quiet);
        else if constexpr (requires { levels_of(method, image); })
          report["levels_used"] = levels_of(method, image);
      },
      methods);
}

/// Adds the options of a task.
template <class Options>
void add_options(Json& report, const Options& options) {
  report.update(parameters_json(parameters_of(options)));
}

/// Adds width, height, repeats and milliseconds.
void add_times(Json& report, Size size, const Times& times);
/// Adds energy: a number for the result, a list for the sweeps.
void add_energies(Json& report, EnergyReport asked, const std::vector<double>& energies);

/// "icm on cpu (...): 640x480, 1.234 ms".
std::string times_text(std::string_view method, const DeviceInfo& info, Size size, const Times& times);
/// Text about the energies; empty if they were not asked for.
std::string energies_text(EnergyReport asked, const std::vector<double>& energies);

}  // namespace parafield::command
