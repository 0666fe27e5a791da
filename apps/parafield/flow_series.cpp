// SPDX-License-Identifier: MIT
#include <deque>
#include <future>

#include "flow.hpp"
#include "interrupt.hpp"

namespace parafield::command {
namespace {

/// Throws UsageError for what only the flow of one pair has.
void check_words(const FlowCommandOptions& options) {
  const auto refuse = [](bool given, const char* option, const char* instead = "") {
    if (given) throw UsageError(fmt::format("{} is not for a series of flows{}", option, instead));
  };
  refuse(!options.truth.truth.empty(), "--gt", "; parafield eval compares files");
  refuse(options.repeats > 0, "--repeat", ", each of which is timed");
  refuse(options.energy != "none", "--energy");
  refuse(!options.guides.tracks.empty(), "--tracks");
  refuse(!options.guides.rotation.empty(), "--rotation");
  refuse(options.method.has_own(), "--features sift");
}

std::vector<Path> inputs_of(const FlowCommandOptions& options) {
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.emplace_back(options.reading.mask);
  return inputs;
}

/// Writes flows in the order in which they come, each while the next one is estimated.
class Writer {
 public:
  /// `checked`: number of files of each series whose names have been checked.
  Writer(const FlowCommandOptions& options, int checked)
      : options_(options), checked_(checked), picture_(options.picture) {}

  /// Calls work(), which writes flows, and waits for the last one. If it throws, the message also says how many
  /// flows were written before.
  template <class Work>
  void during(Work work) {
    try {
      work();
      end();
    } catch (const Error& error) {
      if (writing_.valid()) writing_.wait();
      if (written_ == 0) throw;
      throw Error(error.code(), fmt::format("{}; the {} flow{} before it {} written", error.what(), written_,
                                            written_ == 1 ? "" : "s", written_ == 1 ? "is" : "are"));
    }
  }

  /// A field to estimate into; not the one that is being written.
  FlowField& free_field(Size size) {
    FlowField& field = fields_[count_ % 2];
    if (field.size() != size) field = FlowField(size);
    return field;
  }

  /// Begins to write the field that free_field() returned, and the findings of it. Waits for the one before.
  /// known0, known1: masks of the flow's frame and the next one.
  void write(FrameBuffer frame, KnownPixels known0, KnownPixels known1) {
    end();
    FlowField& field = fields_[count_ % 2];
    const int number = ++count_;
    const FlowFiles files = options_.files.numbered(number);
    if (number > checked_) check_outputs(files.outputs(), inputs_of(options_));
    // Where the system gives no thread, it is written when somebody waits for it.
    writing_ = std::async(std::launch::async | std::launch::deferred,
                          [this, &field, files, number, frame = std::move(frame), known0 = std::move(known0),
                           known1 = std::move(known1)] {
                            mark_unknown(field, known0, known1);
                            if (number == 1 && !files.color.empty())
                              picture_.fit(field);  // one scale for the whole series
                            files.write(picture_, field, frame);
                            findings_.add(field, known0);
                            ++written_;
                          });
  }

  int count() const { return count_; }
  const FlowFindings& findings() const { return findings_; }
  const PictureOptions& picture() const { return picture_; }

 private:
  /// Waits for what is being written. Throws what that threw.
  void end() {
    if (writing_.valid()) writing_.get();
  }

  const FlowCommandOptions& options_;
  const int checked_;
  PictureOptions picture_;
  FlowFindings findings_;
  FlowField fields_[2];
  int count_ = 0, written_ = 0;
  std::future<void> writing_;
};

}  // namespace

FlowFiles FlowFiles::numbered(int number) const {
  const auto one = [&](const std::string& pattern) {
    return pattern.empty() ? std::string() : command::numbered(pattern, number).string();
  };
  return {one(flow), one(valid), one(confidence), one(color)};
}

void run_series(const FlowCommandOptions& options, const FlowMethod& method, const FlowOptions& task) {
  check_words(options);
  const int window = frames_of(method);
  const bool counted = int(options.frames.size()) >= window;
  const int expected =
      std::max(int(options.frames.size()) - window + 1, 1);  // more where a file has several frames
  check_series(options.files.outputs(), std::size_t(expected), inputs_of(options));
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  FrameSource source(options.frames, options.reading, window + (counted ? 1 : 0), options.quiet);
  if (source.count() < window)
    throw UsageError(
        fmt::format("FRAMES: {} takes {} frames or more, not {}", name_of(method), window, source.count()));
  if (source.count() == window && counted)
    throw UsageError(
        fmt::format("{}: names a series, but {} frames have one flow; name one file, like flow.flo",
                    options.files.flow.empty() ? "the output" : options.files.flow, window));
  const Size size = source.size();
  FlowOptions how = task;
  how.device = device;
  FlowEstimator estimator(method, size, how);
  Timer timer(Device::cpu()), whole(Device::cpu());
  whole.start();
  std::vector<double> milliseconds;
  struct Waiting {
    FrameBuffer frame;
    KnownPixels known;
  };
  std::deque<Waiting> frames;  // from the one on whose flow comes next
  Writer writer(options, expected);
  int pushed = 0;
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  writer.during([&] {
    KnownPixels known;
    while (std::optional<FrameBuffer> frame = source.next(&known)) {
      timer.start();
      const bool complete = estimator.push(*frame, writer.free_field(size));
      const double time = timer.stop();
      if (pushed++ >= (window - 1) / 2) frames.push_back({std::move(*frame), std::move(known)});
      if (!complete) continue;
      milliseconds.push_back(time);
      writer.write(std::move(frames[0].frame), std::move(frames[0].known),
                   frames[1].known.to(Memory::host()));
      frames.pop_front();
      if (counted && source.count() <= int(options.frames.size()))
        line.update(double(writer.count()) / expected);
      else
        line.count(writer.count(), "flows");
    }
  });
  line.end();
  const double seconds = whole.stop() / 1000;

  Report report = options.begin("flow", method, size, estimator.blocks());
  report.json.update(parameters_json(parameters_of(task)));
  add_times(report, name_of(method), info, size, times_of(milliseconds));
  report.json["frames"] = source.count();
  report.json["flows"] = writer.count();
  report.json["seconds"] = seconds;
  report.text += fmt::format("{} frames, {} flow{} in {:.2f} s with reading and writing\n", source.count(),
                             writer.count(), writer.count() == 1 ? "" : "s", seconds);
  add_range(report, source.range());
  add_findings(report, writer.findings());
  add_files(report, options.files.names());
  if (!options.files.color.empty()) add_scale_of(report, writer.picture());
  options.print(report);
}

}  // namespace parafield::command
