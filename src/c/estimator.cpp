// SPDX-License-Identifier: MIT
// The estimators of the C interface.
#include <memory>
#include <utility>

#include "c/fields.hpp"
#include "c/json.hpp"
#include "c/options.hpp"
#include "parafield/io.hpp"

using namespace parafield;
using namespace parafield::c;

/// An estimator of any task.
struct parafield_estimator {
  std::atomic<bool> used = false;

  virtual ~parafield_estimator() = default;
  virtual void solve(const parafield_input& input, const parafield_field* output) = 0;
  virtual bool push(const parafield_frame* frame, const parafield_field* output) = 0;
  virtual void push_pair(const parafield_frame* left, const parafield_frame* right,
                         const parafield_field* output) = 0;
  virtual bool finish() = 0;
  virtual void reset() = 0;
  virtual void cancel() noexcept = 0;
  virtual void synchronize() = 0;
  virtual std::vector<double> energies() = 0;
  virtual std::string state() = 0;
  virtual void* stream() const = 0;
  virtual LearnedBackground background() = 0;
};

namespace parafield::c {
namespace {

constexpr const char* what = "the estimator";

template <class Task>
constexpr const char* name_of_task() {
  if constexpr (std::is_same_v<Task, Flow>) return "flow";
  if constexpr (std::is_same_v<Task, Stereo>) return "stereo";
  return "detection";
}

/// The options of a task that are no parameters, by name: calls f(name, field) for each.
template <class Options, class F>
void for_each_flag(Options& options, F f) {
  f("throughput", options.throughput);
  f("examine_frames", options.examine_frames);
  f("energies", options.energies);
  if constexpr (requires { options.pipelined; }) f("pipelined", options.pipelined);
  if constexpr (requires { options.confidence; }) {
    f("valid", options.valid);
    f("confidence", options.confidence);
  }
}

/// A method and options of a task, from options by name.
template <class Task>
struct Chosen {
  typename Task::Method method;
  typename Task::Options options;

  explicit Chosen(const parafield_settings& settings) {
    NamedOptions named(settings.options, settings.option_count);
    if (const char* const name = named.take("method")) method = method_named<typename Task::Method>(name);
    const char* const preset_name = named.take("preset");
    options.device = named.take_device();
    options.stream = {settings.stream};
    std::vector<std::string_view> names = {"method", "preset", "device", "threads"};
    for_each_flag(options, [&]<class Value>(const char* name, Value& value) {
      named.take(name, value);
      names.push_back(name);
    });
    if constexpr (Task::learns) {
      names.push_back("background");
      if (const char* const path = named.take("background"))
        options.background = std::make_shared<LearnedBackground>(read_background(path));
      take_region(settings);
    } else if (settings.region) {
      fail_value("a region is for detection only, not for ", name_of_task<Task>());
    }
    if (settings.progress)
      options.progress = [call = settings.progress, data = settings.progress_data](double share) {
        call(share, data);
      };
    std::visit(
        [&]<class Method>(Method& value) {
          if (preset_name) value = parafield::preset<Method>(preset_name);
          named.set_parameters(Method::name, names, value, options);
        },
        method);
  }

 private:
  void take_region(const parafield_settings& settings) requires Task::learns {
    if (!settings.region) return;
    const View<const std::uint8_t> region =
        view_of(settings.region, settings.region_pitch, {settings.width, settings.height}, "the region");
    auto copy = std::make_shared<Image<std::uint8_t>>(region.size());
    for (int y = 0; y < region.height; ++y) std::copy_n(region.row(y), region.width, copy->view().row(y));
    options.region = copy;
  }
};

template <class Task>
class TaskEstimator final : public parafield_estimator {
  using Result = typename Task::Result;
  static constexpr const char* task = name_of_task<Task>();

 public:
  TaskEstimator(Chosen<Task> chosen, Size size)
      : pipelined_(is_pipelined(chosen.options)),
        estimator_(chosen.method, size, std::move(chosen.options)) {}

  void solve(const parafield_input& given_input, const parafield_field* output) override {
    Result result = read_field<Task>(output, "the output");
    if (given_input.frame_count > 0) given(given_input.frames, "the list of frames");
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < given_input.frame_count; ++i) {
      if (i == most_frames)
        fail_value("there are ", given_input.frame_count, " frames: no method takes so many");
      frames.push_back(read_frame_struct(given_input.frames[i], ("frame " + std::to_string(i)).c_str()));
    }
    typename Task::Input input;
    input.frames = frames;
    Result start;
    if (given_input.start) {
      start = read_field<Task>(given_input.start, "the start");
      if (!frames.empty() && start.memory().on_host() != frames[0].memory.on_host())
        fail_value("the start is not in the frames' memory");
      input.start = start;
    }
    take_motion(given_input, input);
    estimator_(input, result);
    pending_.reset();
  }

  bool push(const parafield_frame* frame, const parafield_field* output) override {
    if constexpr (Task::streams) {
      auto next = std::make_unique<Result>(read_field<Task>(output, "the output"));
      const bool complete = estimator_.push(read_frame_struct(frame, "the frame"), *next);
      if (pipelined_) pending_ = std::move(next);
      return complete;
    }
    fail(ErrorCode::unsupported, "stereo takes pairs of frames: parafield_push_pair");
  }

  void push_pair(const parafield_frame* left, const parafield_frame* right,
                 const parafield_field* output) override {
    if constexpr (Task::pairs) {
      Result result = read_field<Task>(output, "the output");
      estimator_.push(read_frame_struct(left, "the left frame"), read_frame_struct(right, "the right frame"),
                      result);
    } else {
      fail(ErrorCode::unsupported, task, " takes single frames: parafield_push");
    }
  }

  bool finish() override {
    if constexpr (Task::streams) {
      const bool complete = estimator_.finish() != nullptr;
      pending_.reset();
      return complete;
    }
    fail(ErrorCode::unsupported, "stereo cannot be pipelined: its results are complete");
  }

  void reset() override {
    estimator_.reset();
    pending_.reset();
  }
  void cancel() noexcept override { estimator_.cancel(); }
  void synchronize() override { estimator_.synchronize(); }
  std::vector<double> energies() override { return estimator_.energies(); }
  void* stream() const override { return estimator_.stream().handle; }

  LearnedBackground background() override {
    if constexpr (Task::learns) return estimator_.background();
    fail(ErrorCode::unsupported, task, " learns no background");
  }

  std::string state() override {
    const ValueRange range = estimator_.range();
    return std::visit(
        [&]<class Method>(const Method& method) {
          return object(
              {{"task", json(task)},
               {"method", json(Method::name)},
               {"parameters", parameters_of(method)},
               {"device", json(to_string(estimator_.device()))},
               {"width", json(estimator_.size().width)},
               {"height", json(estimator_.size().height)},
               {"range", range == ValueRange{} ? "null" : array({json(range.black), json(range.white)})},
               {"frames_state", json(estimator_.frames_state())},
               {"blocks", json(estimator_.blocks().count)},
               {"workspace_bytes", json(estimator_.workspace_bytes())}});
        },
        estimator_.method());
  }

 private:
  static constexpr std::size_t most_frames = 64;

  static bool is_pipelined(const typename Task::Options& options) {
    if constexpr (requires { options.pipelined; }) return options.pipelined;
    return false;
  }

  /// Reads what only flow can use. Throws for other tasks.
  void take_motion(const parafield_input& given_input, typename Task::Input& input) {
    const auto& [size, frames, frame_count, start, tracks, track_count, rotation] = given_input;
    if (track_count > 0) given(tracks, "the list of tracks");
    if constexpr (std::is_same_v<Task, Flow>) {
      if (tracks) input.tracks = std::span(reinterpret_cast<const Track*>(tracks), track_count);
      if (rotation)
        input.rotation = CameraRotation{rotation->x,  rotation->y,  rotation->z, rotation->fx,
                                        rotation->fy, rotation->cx, rotation->cy};
    } else if (tracks || rotation) {
      fail_value(tracks ? "tracks are" : "a rotation is", " for flow only, not for ", task);
    }
  }

  const bool pipelined_;
  std::unique_ptr<Result> pending_;  // where the pending result of a pipelined estimator is written
  Estimator<Task> estimator_;        // destroyed before pending_
};

template <class Task>
parafield_estimator* made(const parafield_settings& settings) {
  return new TaskEstimator<Task>(Chosen<Task>(settings), {settings.width, settings.height});
}

/// Runs a call that uses an estimator.
template <class F>
parafield_code using_estimator(parafield_estimator* estimator, F f) noexcept {
  return guarded([&] {
    const Use use(given(estimator, what).used, what);
    f();
  });
}

}  // namespace
}  // namespace parafield::c

parafield_code parafield_create(const parafield_settings* settings, parafield_estimator** estimator) {
  return guarded([&] {
    given(estimator, "the pointer to the estimator") = nullptr;
    const parafield_settings read = read_struct(settings, "settings");
    switch (read.task) {
      case PARAFIELD_FLOW:
        *estimator = made<Flow>(read);
        break;
      case PARAFIELD_STEREO:
        *estimator = made<Stereo>(read);
        break;
      case PARAFIELD_DETECTION:
        *estimator = made<Detection>(read);
        break;
      default:
        fail_value("task cannot be ", read.task,
                   "; allowed: PARAFIELD_FLOW, PARAFIELD_STEREO, PARAFIELD_DETECTION");
    }
  });
}

parafield_code parafield_destroy(parafield_estimator* estimator) {
  return guarded([&] { destroy(estimator, what); });
}

parafield_code parafield_solve(parafield_estimator* estimator, const parafield_input* input,
                               const parafield_field* output) {
  return using_estimator(estimator, [&] { estimator->solve(read_struct(input, "the input"), output); });
}

parafield_code parafield_push(parafield_estimator* estimator, const parafield_frame* frame,
                              const parafield_field* output, int32_t* complete) {
  return using_estimator(estimator, [&] {
    given(complete, "the pointer to complete") = 0;
    *complete = estimator->push(frame, output);
  });
}

parafield_code parafield_push_pair(parafield_estimator* estimator, const parafield_frame* left,
                                   const parafield_frame* right, const parafield_field* output) {
  return using_estimator(estimator, [&] { estimator->push_pair(left, right, output); });
}

parafield_code parafield_finish(parafield_estimator* estimator, int32_t* complete) {
  return using_estimator(estimator, [&] {
    given(complete, "the pointer to complete") = 0;
    *complete = estimator->finish();
  });
}

parafield_code parafield_reset(parafield_estimator* estimator) {
  return using_estimator(estimator, [&] { estimator->reset(); });
}

parafield_code parafield_cancel(parafield_estimator* estimator) {
  return guarded([&] { given(estimator, what).cancel(); });
}

parafield_code parafield_synchronize(parafield_estimator* estimator) {
  return using_estimator(estimator, [&] { estimator->synchronize(); });
}

parafield_code parafield_energies(parafield_estimator* estimator, double* values, size_t capacity,
                                  size_t* count) {
  return using_estimator(estimator, [&] {
    write_values<double>(estimator->energies(), values, capacity, count, "the buffer of energies");
  });
}

parafield_code parafield_state(parafield_estimator* estimator, char* text, size_t capacity, size_t* length) {
  return using_estimator(estimator, [&] { write_text(estimator->state(), text, capacity, length); });
}

parafield_code parafield_stream(parafield_estimator* estimator, void** stream) {
  return using_estimator(estimator,
                         [&] { given(stream, "the pointer to the stream") = estimator->stream(); });
}

parafield_code parafield_save_background(parafield_estimator* estimator, const char* path) {
  return using_estimator(estimator,
                         [&] { write_background(&given(path, "the path"), estimator->background()); });
}
