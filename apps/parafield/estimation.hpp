#pragma once
#include <nlohmann/json.hpp>

#include "files.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

/// What flow, stereo and detect have in common.
namespace parafield::command {

/// --gt, --mask, --valid-only.
struct TruthOptions {
  std::string truth, mask;
  bool valid_only = false;

  /// `help`: of --gt, which is returned.
  Option add_to(App& command, const std::string& help);
};

/// The mask of that name; none where it is empty. Throws where its size is not that of `frame`.
Image<std::uint8_t> read_mask_like(const std::string& mask, const std::string& frame, Size size);

template <class Methods>
std::string_view name_of(const Methods& method) {
  return std::visit([](const auto& chosen) { return chosen.name; }, method);
}

/// --energy, --repeat, --json, --quiet.
struct RunOptions {
  std::string energy = "none";
  int repeats = 1;
  bool json = false, quiet = false;

  void add_to(App& command);
  void print(const Json& report, const std::string& text) const;

  /// What --energy says. Throws UsageError where the method minimizes no energy.
  template <class Methods>
  EnergyReport energies(const Methods& method) const {
    return energies(name_of(method),
                    std::visit([]<class Method>(const Method&) { return LabelMethod<Method>; }, method));
  }

 private:
  EnergyReport energies(std::string_view method, bool minimizes) const;
};

constexpr const char* refinement_group = "What is done with the result, in this order";

/// --speckle, --fill, --final-median. `filled`: what --fill does.
template <class Options>
void add_refinement(App& command, Options& options, const std::string& filled) {
  command.add_option("--speckle", options.speckle, "connected regions of up to N px are not valid; 0 = none")
      .type_name("N")
      .range(0, 1 << 29)
      .capture_default_str()
      .group(refinement_group);
  command.add_flag("--fill", options.fill, filled).group(refinement_group);
  command.add_option("--final-median", options.final_median, "side of a median at last: 3 or 5 px; 0 = none")
      .type_name("N")
      .one_of({0, 3, 5})
      .capture_default_str()
      .group(refinement_group);
}

/// The memory that a device reads fastest.
inline Memory memory_of(const Device& device) {
  return device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
}

template <class Task>
struct Estimate {
  typename Task::Result result;  // in host memory
  Times times;
  std::vector<double> energies;
};

/// An estimator's input: frames on its device, and there, too, what `given` has beside frames, in host memory.
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

/// Times the estimator alone: the frames are on its device before it starts, and a first call has allocated. Energies
/// are another estimator's work, which is not timed. Calls that are not timed say how far they are.
template <class Task>
Estimate<Task> estimate(const typename Task::Method& method, const Device& device,
                        const std::vector<FrameBuffer>& frames, typename Task::Options options,
                        const RunOptions& run, const typename Task::Input& given = {}) {
  const Resident<Task> resident(frames, given, memory_of(device));
  const Size size = frames[0].size();
  Estimate<Task> estimated;
  ProgressLine line(!run.quiet);
  options.progress = line.callback();
  if (options.energies != EnergyReport::none) {
    Estimator<Task> estimator(method, size, device, {}, options);
    line.begin("estimating for --energy");
    estimator(resident);
    estimated.energies = estimator.energies();
    options.energies = EnergyReport::none;
  }
  // Timed calls are not disturbed. On the CPU the callback does nothing then; on a GPU it would interrupt the kernels even
  // so, and what shows the progress is an estimator of its own.
  if (options.progress && device.kind == Device::Kind::cuda) {
    Estimator<Task> shown(method, size, device, {}, options);
    line.begin("estimating");
    shown(resident);
    shown.synchronize();
    options.progress = {};
  }
  Estimator<Task> estimator(method, size, device, {}, options);
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
  add_method(report, name_of(method), preset,
             std::visit([](const auto& chosen) { return parameters_of(chosen); }, method));
}

/// Adds levels_used, of adaptive ridge and belief propagation, whose are said on stderr where fewer than asked for.
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

/// Adds speckle, fill and final_median.
template <class Options>
void add_refinement(Json& report, const Options& options) {
  report["speckle"] = options.speckle;
  report["fill"] = options.fill;
  report["final_median"] = options.final_median;
}

/// Adds width, height, repeats and milliseconds.
void add_times(Json& report, Size size, const Times& times);
/// Adds energy: a number for the result's, a list for the sweeps'.
void add_energies(Json& report, EnergyReport asked, const std::vector<double>& energies);

/// "icm on cpu (...): 640x480, 1.234 ms".
std::string times_text(std::string_view method, const DeviceInfo& info, Size size, const Times& times);
/// Lines about energies; empty where none were asked for.
std::string energies_text(EnergyReport asked, const std::vector<double>& energies);

}  // namespace parafield::command
