// SPDX-License-Identifier: MIT
#include "evaluation/scores.hpp"

namespace parafield {
namespace {

// The labels of Goyette, Jodoin, Porikli, Konrad, Ishwar: changedetection.net, 2012.
enum Label : std::uint8_t { still = 0, shadow = 50, outside = 85, unknown = 170, moving = 255 };

void derive_scores(MaskScores& scores) {
  const std::int64_t tp = scores.true_positives, fp = scores.false_positives, fn = scores.false_negatives;
  const std::int64_t all = tp + fp + fn + scores.true_negatives;
  scores.precision = share(tp, tp + fp);
  scores.recall = share(tp, tp + fn);
  scores.f1 = share(2 * tp, 2 * tp + fp + fn);
  scores.iou = share(tp, tp + fp + fn);
  scores.pwc = 100 * share(fp + fn, all);
}

/// Label of a pixel. Throws Error(invalid_argument) if its colors differ.
std::uint8_t label_of(const std::uint8_t* pixel, int channels, int x, int y) {
  if (channels > 1 && (pixel[1] != pixel[0] || pixel[2] != pixel[0]))
    fail_value("the label at pixel (", x, ", ", y, ") is a color, ", int(pixel[0]), " ", int(pixel[1]), " ",
               int(pixel[2]), "; labels are gray");
  return *pixel;
}

}  // namespace

MaskScores& MaskScores::operator+=(const MaskScores& other) {
  true_positives += other.true_positives;
  false_positives += other.false_positives;
  false_negatives += other.false_negatives;
  true_negatives += other.true_negatives;
  unscored += other.unscored;
  derive_scores(*this);
  return *this;
}

MaskScores evaluate(const In<MotionMaskView>& estimate, const In<Frame>& labels,
                    const EvaluationOptions& options) {
  if (!estimate.moving || estimate.size().width < 1 || estimate.size().height < 1)
    fail_value("the estimated mask has no pixels");
  check_pitch(estimate.moving, "the estimated mask");
  if (options.confidence) fail_value("the confidence of a motion mask has no score; leave it out");
  check_host_frame(labels, "the image of labels");
  if (bytes_per_value(labels.format) != 1)
    fail_value("the format of the labels is ", to_string(labels.format), "; it should have 8 bits");
  check_sizes("the estimated mask", estimate.size(), "the true one has", labels.size(), options);

  MaskScores scores;
  const int count = channels(labels.format);
  const View<const std::uint8_t> values = values_of<std::uint8_t>(labels);
  for_each_pixel(labels.size(), [&](int x, int y) {
    if (!is_set(options.mask, x, y)) return;
    const bool found = estimate.moving(x, y) != 0;
    switch (const int label = label_of(&values(count * x, y), count, x, y)) {
      case still:
      case shadow:
        ++(found ? scores.false_positives : scores.true_negatives);
        break;
      case moving:
        ++(found ? scores.true_positives : scores.false_negatives);
        break;
      case outside:
      case unknown:
        ++scores.unscored;
        break;
      default:
        fail_value("label ", label, " at pixel (", x, ", ", y,
                   "); labels are 0 (static), 50 (shadow), 85 (outside the region), 170 (unknown) and 255 "
                   "(moving)");
    }
  });
  derive_scores(scores);
  return scores;
}

}  // namespace parafield
