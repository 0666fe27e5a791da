// SPDX-License-Identifier: MIT
#include <deque>
#include <memory>

#include "flow.hpp"
#include "series.hpp"

namespace parafield::command {
namespace {

/// Throws UsageError for options that a series does not support.
void check_words(const FlowCommandOptions& options) {
  const auto refuse = [](bool given, const char* option, const char* instead = "") {
    if (given) throw UsageError(fmt::format("{} is not for a series of flows{}", option, instead));
  };
  refuse(!options.truth.truth.empty(), "--gt", "; parafield eval compares files");
  refuse(options.repeats > 0, "--repeat", ", each of which is timed");
  refuse(options.energy != "none", "--energy");
  refuse(!options.guides.tracks.empty(), "--tracks");
  refuse(!options.guides.rotation.empty(), "--rotation");
}

std::vector<Path> inputs_of(const FlowCommandOptions& options) {
  std::vector<Path> inputs(options.frames.begin(), options.frames.end());
  inputs.emplace_back(options.reading.mask);
  return inputs;
}

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
      std::max(int(options.frames.size()) - window + 1, 1);  // more if a file has several frames
  check_series(options.files.outputs(), std::size_t(expected), inputs_of(options));
  const DeviceStart starting(options.device, false);
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  FrameSource source(options.frames, options.reading, window + (counted ? 1 : 0), options.quiet);
  if (source.count() < window)
    throw UsageError(
        fmt::format("FRAMES: {} takes {} frames or more, not {}", name_of(method), window, source.count()));
  const Size size = source.size();
  FlowOptions how = task;
  how.device = device;
  how.confidence = !options.files.confidence.empty();
  FlowEstimator estimator(method, size, how);
  Timer timer(Device::cpu()), whole(Device::cpu());
  whole.start();
  std::vector<double> milliseconds;
  struct Waiting {
    FrameBuffer frame;
    KnownPixels known;
  };
  std::deque<Waiting> frames;  // starting with the frame whose flow comes next
  PictureOptions picture = options.picture;
  FlowFindings findings;
  SeriesWriter<FlowField> writer("flow");
  /// Writes the flow between two frames.
  const auto write = [&](Waiting first, KnownPixels next) {
    const int number = writer.count() + 1;
    const FlowFiles files = options.files.numbered(number);
    if (number > expected) check_outputs(files.outputs(), inputs_of(options));
    const auto both = std::make_shared<std::pair<Waiting, KnownPixels>>(std::move(first), std::move(next));
    writer.begin([&, both, files, number](FlowField& field) {
      const auto& [shown, known] = *both;
      mark_unknown(field, shown.known, known);
      if (number == 1 && !files.color.empty()) picture.fit(field);  // the whole series shares one scale
      files.write(picture, field, shown.frame);
      findings.add(field, shown.known);
    });
  };
  int pushed = 0;
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  writer.during([&] {
    KnownPixels known;
    while (std::optional<FrameBuffer> frame = source.next(&known)) {
      timer.start();
      const bool complete = estimator.push(*frame, writer.free(estimator));
      const double time = timer.stop();
      if (pushed++ >= (window - 1) / 2) frames.push_back({std::move(*frame), std::move(known)});
      if (!complete) continue;
      milliseconds.push_back(time);
      write(std::move(frames[0]), frames[1].known.to(Memory::host()));
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
  add_findings(report, findings);
  add_files(report, options.files.names());
  if (!options.files.color.empty()) add_scale_of(report, picture);
  options.print(report);
}

}  // namespace parafield::command
