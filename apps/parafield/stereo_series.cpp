// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <memory>

#include "interrupt.hpp"
#include "series.hpp"
#include "stereo.hpp"

namespace parafield::command {
namespace {

/// Throws UsageError for options that a series does not support.
void check_words(const StereoCommandOptions& options) {
  const auto refuse = [](bool given, const char* option, const char* instead = "") {
    if (given) throw UsageError(fmt::format("{} is not for a series of pairs{}", option, instead));
  };
  refuse(!options.truth.truth.empty(), "--gt", "; parafield eval compares files");
  refuse(options.repeats > 0, "--repeat", ", each of which is timed");
  refuse(options.energy != "none", "--energy");
}

/// Reads the images of a stereo camera, pair by pair.
class PairSource {
 public:
  explicit PairSource(const StereoCommandOptions& options)
      : left_files_(half(options.images, 0)),
        right_files_(half(options.images, 1)),
        left_(left_files_, options.reading, ahead, options.quiet),
        right_(right_files_, options.reading, ahead, true) {
    if (left_.count() > 0 && right_.count() > 0)
      check_same_size(left_files_[0], left_.size(), right_files_[0], right_.size());
  }

  struct Pair {
    std::vector<FrameBuffer> images;
    std::vector<KnownPixels> known;
  };
  /// Returns the next pair, or none at the end. Throws Error(invalid_argument) if only one camera has an
  /// image.
  std::optional<Pair> next() {
    Pair pair;
    KnownPixels known[2];
    std::optional<FrameBuffer> left = left_.next(&known[0]), right = right_.next(&known[1]);
    if (left.has_value() != right.has_value())
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the {} camera ({}) has {} image{}, the {} one ({}) has more", left ? "right" : "left",
                      (left ? right_files_ : left_files_)[0], count_, count_ == 1 ? "" : "s",
                      left ? "left" : "right", (left ? left_files_ : right_files_)[0]));
    if (!left) return {};
    ++count_;
    left->set_range(range());
    right->set_range(range());
    pair.images.push_back(std::move(*left));
    pair.images.push_back(std::move(*right));
    for (KnownPixels& one : known) pair.known.push_back(std::move(one));
    return pair;
  }

  /// Returns the range that both cameras share.
  ValueRange range() const {
    const ValueRange left = left_.range(), right = right_.range();
    return {std::min(left.black, right.black), std::max(left.white, right.white)};
  }
  /// Returns the number of pairs expected from the number of files; there are more if a file has several
  /// images.
  int expected() const { return int(left_files_.size()); }
  /// Returns whether every file read so far has one image.
  bool is_counted() const { return left_.count() <= expected(); }
  /// Returns whether neither camera has an image.
  bool is_empty() const { return left_.count() == 0 && right_.count() == 0; }

 private:
  static constexpr int ahead = 2;

  /// Returns half of the files: the left (0) or the right (1) camera's. Throws UsageError.
  static std::vector<std::string> half(const std::vector<std::string>& files, int side) {
    const auto count = std::ptrdiff_t(files.size());
    if (count % 2 == 1)
      throw UsageError(
          fmt::format("IMAGES: {} file{} cannot be halved: name all files of the left camera, then "
                      "as many of the right one",
                      count, count == 1 ? "" : "s"));
    if (std::ranges::count(files, "-") > 1) throw UsageError("IMAGES: - stands for standard input, once");
    return {files.begin() + side * count / 2, files.begin() + (side + 1) * count / 2};
  }

  const std::vector<std::string> left_files_, right_files_;
  FrameSource left_, right_;
  int count_ = 0;
};

}  // namespace

StereoCommandOptions StereoCommandOptions::numbered(int number) const {
  const auto one = [&](const std::string& pattern) {
    return pattern.empty() ? std::string() : command::numbered(pattern, number).string();
  };
  StereoCommandOptions options = *this;
  options.files = {one(files.disparity), one(files.valid), one(files.confidence), one(files.color)};
  options.camera = camera.numbered(number);
  return options;
}

void run_series(const StereoCommandOptions& options, StereoMethod method, const StereoOptions& task) {
  check_words(options);
  check_series(options.outputs(), std::max<std::size_t>(options.images.size() / 2, 1), options.inputs());
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  PairSource source(options);
  if (source.is_empty()) throw UsageError("IMAGES: stereo takes one pair or more, not 0");
  Cameras cameras(options.camera, device);
  StereoEnergy& energy = energy_of(method);
  const int given = energy.disparities;
  std::optional<Examined> examined;
  std::optional<StereoEstimator> estimator;
  CalibratedPair reported;  // the first pair, for the report
  Timer timer(Device::cpu()), whole(Device::cpu());
  whole.start();
  std::vector<double> milliseconds;
  DisparityFindings findings;
  DisparityColorOptions colors;  // the whole series shares one scale
  SeriesWriter<DisparityField> writer("disparity map");
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  writer.during([&] {
    while (std::optional<PairSource::Pair> read = source.next()) {
      auto pair = std::make_shared<CalibratedPair>(cameras.prepared(std::move(read->images)));
      auto images =
          std::make_shared<KnownPair>(*pair, std::move(read->known), !options.camera.calibration.empty());
      if (!estimator) {
        StereoOptions how = task;
        how.device = device;
        estimator.emplace(method, images->frames[0].size(), how);
      }
      // A blank pair, such as the black one at the start of a film, does not tell the number of disparities.
      if (!examined || (given == 0 && examined->findings.blank())) {
        if (!examined) {
          reported.json = pair->json;
          reported.text = pair->text;
        }
        examined.emplace(*pair, *estimator, given);
        method = estimator->method();
        colors = {float(energy.min_disparity),
                  float(energy.min_disparity + std::max(energy.disparities - 1, 1))};
      }
      timer.start();
      estimator->push(images->frames[0], images->frames[1], writer.free(*estimator));
      milliseconds.push_back(timer.stop());
      const int number = writer.count() + 1;
      auto files = std::make_shared<StereoCommandOptions>(options.numbered(number));
      if (number > source.expected()) check_outputs(files->outputs(), options.inputs());
      writer.begin([&, pair, images, files, colors](DisparityField& field) {
        mark_unknown(field, images->known[0], images->known[1]);
        findings.add(field, images->known[0]);
        files->write(field, energy.checks.fill, *pair, colors);
      });
      if (source.is_counted())
        line.update(double(writer.count()) / source.expected());
      else
        line.count(writer.count(), "pairs");
    }
  });
  line.end();
  const double seconds = whole.stop() / 1000;

  const Size size = estimator->size();
  Report report = options.begin("stereo", method, size, estimator->blocks());
  add_times(report, name_of(method), info, size, times_of(milliseconds));
  report.json["pairs"] = writer.count();
  report.json["seconds"] = seconds;
  report.text += fmt::format("{} pair{} in {:.2f} s with reading and writing\n", writer.count(),
                             writer.count() == 1 ? "" : "s", seconds);
  add_range(report, source.range());
  reported.add_to(report);
  add_findings(report, findings);
  examined->add_to(report, energy, options.quiet);
  add_files(report, options.names());
  options.print(report);
}

}  // namespace parafield::command
