// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <memory>

#include "interrupt.hpp"
#include "series.hpp"
#include "stereo.hpp"

namespace parafield::command {
namespace {

/// The frames of both cameras, pair by pair.
class PairFrames {
 public:
  explicit PairFrames(const StereoCommandOptions& options)
      : packed_(options.packed),
        left_files_(packed_ ? options.images : half(options.images, 0)),
        right_files_(packed_ ? std::vector<std::string>() : half(options.images, 1)),
        left_(left_files_, options.reading, ahead, options.quiet),
        quiet_(options.quiet),
        skips_(options.reading.skip_damaged) {
    if (packed_) return;
    right_.emplace(right_files_, options.reading, ahead, true);
    check_same_size(left_files_[0], left_.size(), right_files_[0], right_->size());
    const double left = left_.info().rate, right = right_->info().rate;
    if (left > 0 && right > 0 && std::abs(left - right) > 1e-3 * left && !options.quiet)
      note(fmt::format(
          "{} has {:.4g} frames per second, {} has {:.4g}: they are paired frame by frame, so that they "
          "drift apart",
          left_files_[0], left, right_files_[0], right));
  }

  /// Returns the next pair, or none at the end. If an image of one camera was skipped, so is the other
  /// camera's. Throws Error(invalid_argument) if only one camera has an image.
  std::optional<KnownFrames> next() {
    std::optional<InputFrame> left = left_.next(), right;
    if (packed_) return split(std::move(left));
    right = right_->next();
    while (left && right && left->index != right->index) {
      const bool is_left = left->index < right->index;
      (is_left ? left : right) = (is_left ? left_ : *right_).next();
    }
    say_notes();
    // The last images of one camera may have been skipped.
    if (left.has_value() != right.has_value() && skips_ && !(left ? *right_ : left_).source_notes().empty())
      return {};
    if (left.has_value() != right.has_value())
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the {} camera ({}) has {} image{}, the {} one ({}) has more", left ? "right" : "left",
                      (left ? right_files_ : left_files_)[0], count_, count_ == 1 ? "" : "s",
                      left ? "left" : "right", (left ? left_files_ : right_files_)[0]));
    if (!left) return {};
    note_numbers(left->name, right->name);
    ++count_;
    number_ = int(left->index) + 1;
    KnownFrames pair;
    for (InputFrame* one : {&*left, &*right}) {
      one->frame.set_range(range());
      pair.add(std::move(*one));
    }
    return pair;
  }

  /// Number of the last pair, from 1, with those that were skipped.
  int number() const { return number_; }
  /// Notes on both cameras' images, and on the range of the left one's.
  std::vector<std::string> notes() const {
    std::vector<std::string> all = left_.notes();
    if (right_) all.insert(all.end(), right_->source_notes().begin(), right_->source_notes().end());
    return all;
  }

  /// Returns the range that both cameras share.
  ValueRange range() const {
    const ValueRange left = left_.range(), right = right_ ? right_->range() : left;
    return {std::min(left.black, right.black), std::max(left.white, right.white)};
  }
  /// Returns the number of pairs expected from the number of files; there are more if a file has several
  /// images.
  int expected() const { return int(left_files_.size()); }
  /// Returns whether every file read so far has one image.
  bool is_counted() const { return left_.count() <= expected(); }

 private:
  static constexpr int ahead = 2;

  /// Returns both halves of a frame, or none at the end.
  std::optional<KnownFrames> split(std::optional<InputFrame> frame) {
    if (!frame) return {};
    number_ = int(frame->index) + 1;
    const std::string name = frame->name;
    KnownFrames pair;
    pair.add(std::move(*frame));
    packed_.split(pair, name);
    return pair;
  }

  /// The last number in a file's name without its extension; empty if there is none.
  static std::string number_in(const std::string& name) {
    const std::string stem = Path(name).stem().string();
    const std::size_t last = stem.find_last_of("0123456789");
    if (last == stem.npos) return {};
    const std::size_t before = stem.find_last_not_of("0123456789", last);
    return stem.substr(before + 1, last - before);
  }
  /// Notes the first pair whose numbers differ if the first pair's were the same, because an image of one
  /// camera may be missing.
  void note_numbers(const std::string& left, const std::string& right) {
    const std::string a = number_in(left), b = number_in(right);
    if (count_ == 0) share_numbers_ = !a.empty() && a == b && left_files_ != right_files_;
    if (!share_numbers_ || a == b) return;
    share_numbers_ = false;
    left_.say({fmt::format("{} is paired with {}: an image of one camera may be missing", right, left)});
  }

  /// Prints new notes on the right camera's images, which is quiet because its range is the left one's.
  void say_notes() {
    for (; said_ < right_->source_notes().size(); ++said_)
      if (!quiet_) note(right_->source_notes()[said_]);
  }

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

  const PackedViews packed_;
  const std::vector<std::string> left_files_, right_files_;
  InputFrames left_;
  std::optional<InputFrames> right_;  // none for frames that hold both views
  const bool quiet_, skips_;
  int count_ = 0, number_ = 0;
  bool share_numbers_ = false;  // the images of a pair have the same number in their names
  std::size_t said_ = 0;        // notes of the right camera that are printed
};

}  // namespace

void run_series(const StereoCommandOptions& options, StereoMethod method, const StereoOptions& task) {
  constexpr const char* pairs = "pairs";
  options.refuse(!options.truth.truth.empty(), "--gt", pairs, "; parafield eval compares files");
  options.check_series_words(pairs);
  check_series(options.outputs(), std::max<std::size_t>(options.images.size() / (options.packed ? 1 : 2), 1),
               options.inputs());
  const Device device = options.device.device();
  const DeviceInfo info = describe_device(device);

  PairFrames source(options);
  Cameras cameras(options.camera, device, options.quiet);
  StereoEnergy& energy = energy_of(method);
  const int given = energy.disparities;
  std::optional<Examined> examined;
  std::optional<StereoEstimator> estimator;
  CalibratedPair reported;  // the first pair, for the report
  Timer timer(Device::cpu()), whole(Device::cpu());
  whole.start();
  std::vector<double> milliseconds;
  DisparityFindings findings;
  FramesFindings unusable;
  DepthLoss loss;
  DisparityColorOptions colors;  // the whole series shares one scale
  SeriesWriter<DisparityField> writer("disparity map");
  ProgressLine line(!options.quiet);
  line.begin("estimating");
  writer.during([&] {
    while (std::optional<KnownFrames> read = source.next()) {
      auto pair = std::make_shared<CalibratedPair>(cameras.prepared(std::move(read->frames)));
      auto images = std::make_shared<KnownFrames>(
          known_pair(*pair, std::move(read->known), !options.camera.calibration.empty()));
      const Size size = images->frames[0].size();
      if (!estimator) {
        StereoOptions how = task;
        how.device = device;
        how.examine_frames = true;
        estimator.emplace(method, size, how);
      }
      // A blank pair, such as the black one at the start of a film, does not tell the number of disparities.
      if (!examined || (given == 0 && examined->findings.blank())) {
        if (!examined) {
          reported.json = pair->json;
          reported.text = pair->text;
          reported.geometry = pair->geometry;
        }
        examined.emplace(*pair, *estimator, given);
        method = estimator->method();
        colors = {float(energy.min_disparity),
                  float(energy.min_disparity + std::max(energy.disparities - 1, 1))};
      }
      timer.start();
      estimator->push(images->frames[0], images->frames[1], writer.free(*estimator));
      milliseconds.push_back(timer.stop());
      const int number = source.number();
      unusable.add(estimator->frames_state(), number);
      if (number > source.expected()) check_outputs(numbered(options.outputs(), number), options.inputs());
      writer.begin([&, pair, images, number, colors](DisparityField& field) {
        mark_unknown(field, images->known[0], images->known[1]);
        findings.add(field, images->known[0]);
        loss += options.write(field, energy.checks.fill, *pair, number, colors);
      });
      if (source.is_counted())
        line.update(double(writer.count()) / source.expected());
      else
        line.count(writer.count(), "pairs");
    }
  });
  line.end();
  if (writer.count() == 0) throw Error(ErrorCode::format, "no pair of images can be read");
  const double seconds = whole.stop() / 1000;

  const Size size = estimator->size();
  Report report = options.begin("stereo", method, size, estimator->blocks());
  report.json.update(parameters_json(parameters_of(task)));
  add_times(report, name_of(method), info, size, times_of(milliseconds));
  add_series(report, "", "pair", writer.count(), seconds);
  add_range(report, source.range());
  add_notes(report, source.notes());
  reported.add_to(report);
  add_findings(report, findings);
  if (examined->findings.textured || writer.count() > 1)
    add_frames(report.json, unusable, "disparity maps", options.quiet);
  examined->add_to(report, energy, options.quiet);
  if (reported.geometry) options.camera.add_depths(report, *reported.geometry, loss, options.quiet);
  add_files(report, names_of(options.outputs()));
  options.print(report);
}

}  // namespace parafield::command
