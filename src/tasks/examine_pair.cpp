// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <vector>

#include "core/value_range.hpp"
#include "core/views.hpp"
#include "parafield/rectification.hpp"
#include "tasks/frame_examiner.hpp"
#include "tasks/stereo_session.hpp"

namespace parafield {
namespace {

/// Returns the means of blocks of factor x factor pixels, gray or in three colors. The order of the colors is
/// the frame's, even if it is BGR. T: type of the frame's samples.
template <class T>
FrameBuffer shrunk_values(const Frame& frame, int factor) {
  const int samples = channels(frame.format), kept = std::min(samples, 3);
  FrameBuffer small({(frame.width + factor - 1) / factor, (frame.height + factor - 1) / factor},
                    kept == 1 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32);
  small.set_range(range_of(frame));
  const View<const T> from = values_of<T>(frame);
  const View<float> to = values_of<float>(small);
  for (int y = 0; y < to.height; ++y)
    for (int i = 0; i < to.width; ++i) {
      const int x = i / kept * factor, sample = i % kept;
      const int columns = std::min(factor, frame.width - x),
                rows = std::min(factor, frame.height - y * factor);
      float sum = 0;
      for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
          sum += float(from((x + column) * samples + sample, y * factor + row));
      to(i, y) = sum / float(columns * rows);
    }
  return small;
}
FrameBuffer shrunk(const Frame& frame, int factor) {
  FrameBuffer small;
  with_value_type(frame.format, [&]<class T>(T) { small = shrunk_values<T>(frame, factor); });
  return small;
}

/// Correlation of pairs of values. Pairs with a value that is not finite are ignored.
class Correlation {
 public:
  void add(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    const double from_a = a - mean_a_, from_b = b - mean_b_;
    mean_a_ += from_a / ++count_;
    mean_b_ += from_b / count_;
    aa_ += from_a * (a - mean_a_);
    bb_ += from_b * (b - mean_b_);
    ab_ += from_a * (b - mean_b_);
  }
  /// Returns the correlation, -1 to 1, or 0 if one side does not vary.
  float value() const { return aa_ > 0 && bb_ > 0 ? float(ab_ / std::sqrt(aa_ * bb_)) : 0.0f; }

 private:
  double count_ = 0, mean_a_ = 0, mean_b_ = 0, aa_ = 0, bb_ = 0, ab_ = 0;
};

/// Formats the value with `digits` decimals.
std::string rounded(double value, int digits) { return text(std::fixed, std::setprecision(digits), value); }

/// Returns the sum of the samples at (x, y) of a frame made by shrunk().
double sum_at(const FrameBuffer& small, int x, int y) {
  const int samples = channels(small.format());
  const float* const pixel = static_cast<const float*>(small.row(y)) + x * samples;
  return samples == 1 ? double(pixel[0]) : double(pixel[0]) + pixel[1] + pixel[2];
}

}  // namespace

PairFindings examine_pair(const In<Frame>& left, const In<Frame>& right, int min_disparity) {
  const Frame both[] = {left, right};
  Frame frames[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const Memory memory = both[i].memory;
    frames[i] = checked(both[i], i == 0 ? "left" : "right", both[0].size(),
                        memory.on_host() ? Device::cpu() : Device::cuda(memory.device));
  }
  return find_disparities(frames[0], frames[1], min_disparity);
}

PairFindings find_disparities(const Frame& left, const Frame& right, int min_disparity) {
  constexpr int most_width = 128;
  const Size size = left.size();
  const int factor = std::max(1, (size.width + most_width - 1) / most_width);
  FrameBuffer copies[2];
  Frame frames[] = {on_host(left, copies[0]), on_host(right, copies[1])};
  give_range(frames);
  const FrameBuffer small[] = {shrunk(frames[0], factor), shrunk(frames[1], factor)};
  const int width = small[0].size().width, reach = width * 2 / 5;
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = 2 * reach + 1;
  method.energy.min_disparity = -reach;
  method.energy.sub_pixel = false;
  method.energy.checks.fill = false;
  check(method);
  const Device cpu = Device::cpu();
  const auto session =
      known_stereo_session(method, small[0].size(), cpu, {.device = cpu, .min_confidence = 0});
  const DisparityField& field = session->call({.frames = std::array<Frame, 2>{small[0], small[1]}}, nullptr);

  std::vector<int> counts(std::size_t(2 * reach + 1));
  int matched = 0, negative = 0;
  Correlation correlation;
  for (int y = 0; y < field.size().height; ++y)
    for (int x = 0; x < width; ++x) {
      if (!field.valid(x, y)) continue;
      const int d = std::clamp(int(std::lround(field.d(x, y))), -reach, reach);
      if (d == -reach && reach > 0) continue;  // pixels without any texture get the first label
      ++counts[std::size_t(d + reach)];
      ++matched;
      negative += d * factor + factor / 2 < std::min(0, min_disparity);
      if (x - d >= 0 && x - d < width) correlation.add(sum_at(small[0], x, y), sum_at(small[1], x - d, y));
    }
  // Find the largest disparity that more than 1/300 of the matched pixels reach, and add the error of a
  // coarse disparity. Rounding up to a multiple of 16 adds a margin.
  int most = reach, beyond = 0;
  while (most > -reach && (beyond += counts[std::size_t(most + reach)]) * 300 <= matched) --most;
  const int needed = (most + 1) * factor + factor / 2 - min_disparity + 1;
  const int room = size.width - std::max(0, min_disparity);
  PairFindings findings;
  findings.disparities = std::clamp((std::max(needed, 1) + 15) / 16 * 16, 1, std::max(1, room));
  findings.matched = float(matched) / float(width * field.size().height);
  findings.negative = matched ? float(negative) / float(matched) : 0.0f;
  findings.correlation = correlation.value();
  findings.textured = FrameExaminer().compare(frames[0], frames[1]) != FramesState::no_texture;
  return findings;
}

std::vector<std::string> pair_warnings(const PairFindings& findings, const RowAlignment& rows,
                                       int disparities) {
  std::vector<std::string> all;
  if (!findings.textured) return {text_of(FramesState::no_texture)};
  if (findings.swapped())
    all.push_back(text("the views seem to be swapped: ", rounded(100 * findings.negative, 0),
                       " % of the matches lie farther right in the right image"));
  else if (disparities > 0 && !findings.blank() &&
           findings.disparities > disparities + 16)  // examine_pair counts in steps of 16
    all.push_back(
        text(disparities, " disparities seem to be too few: the pair needs about ", findings.disparities));
  const bool measured = rows.tracks >= RowAlignment::least_tracks;
  if (measured && (rows.median_error > 0.75 || std::abs(rows.rotation) > 0.3)) {
    const bool turned = std::abs(rows.rotation) > 0.1;
    const std::string turn =
        turned ? text(", and the right image seems to be turned by ", rounded(rows.rotation, 2), " degrees")
               : "";
    all.push_back(text(
        "the rows are not aligned: matches lie ", rounded(rows.median_error, 1),
        " px off their rows (median of ", rows.tracks, " tracks)", turn,
        "; rectify the pair by the calibration of its cameras, or calibrate them anew if that was done"));
  }
  return all;
}

}  // namespace parafield
