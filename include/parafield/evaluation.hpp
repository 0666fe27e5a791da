// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <limits>

#include "parafield/fields.hpp"

/// Scores of estimated fields against ground truth. All data must be in host memory. Sums are computed in
/// float64, row by row.
namespace parafield {

/// Errors of a flow field, NaN if no pixel counts.
struct FlowScores {
  /// degrees: mean and standard deviation of the angle between (u, v, 1) and its true value (Barron; Marzat
  /// section 2.4)
  double aae = 0, aae_std = 0;
  /// px: mean and standard deviation of the endpoint error, the length of the difference vector (Marzat
  /// section 2.4)
  double epe = 0, epe_std = 0;
  double r1 = 0, r3 = 0, r5 = 0;  ///< share, 0..1, of pixels with an endpoint error above 1, 3, 5 px
  /// px: area under the sparsification curve when pixels are ranked by confidence, and when they are ranked
  /// by their true error, which is the best possible. NaN unless `EvaluationOptions::confidence` asks for
  /// them.
  double auc = std::numeric_limits<double>::quiet_NaN(), auc_best = std::numeric_limits<double>::quiet_NaN();
  double density = 0;  ///< share, 0..1, of pixels with known truth whose estimate is valid; NaN without truth
  std::int64_t pixels = 0;   ///< pixels that count
  std::int64_t unknown = 0;  ///< pixels that do not count because their truth is unknown
  std::int64_t missing = 0;  ///< pixels that do not count because their estimate is unknown
};

/// Options of `evaluate`.
struct EvaluationOptions {
  View<const std::uint8_t> mask = {};  ///< pixels that are 0 here do not count; no data = all pixels count
  bool valid_only = false;             ///< count only pixels that the estimate marks as valid
  /// Also score how well the estimate's confidence ranks its errors, as the area under the sparsification
  /// curve: for n pixels that count, the mean over k = 1..n of the mean error, px, of the k most confident
  /// pixels. Pixels of equal confidence share their mean error, and NaN is the lowest confidence. The area of
  /// an uninformative confidence is the mean error of all pixels.
  bool confidence = false;
};

/// Scores a flow field. A pixel counts if both its truth and its estimate are known. Flow is unknown if |u|
/// or |v| > 1e9 or NaN; the truth is also unknown where its `valid` is 0. Throws Error(invalid_argument) if
/// sizes differ, or if `options.confidence` is set and the estimate has no confidence.
PARAFIELD_API FlowScores evaluate(const In<FlowView>& estimate, const In<FlowView>& truth,
                                  const EvaluationOptions& options = {});

/// Errors of a disparity field, |d - truth|; NaN if no pixel counts.
struct DisparityScores {
  /// share, 0..1, of pixels with an error above 0.5, 1, 2, 4 px (Middlebury)
  double bad_0_5 = 0, bad_1 = 0, bad_2 = 0, bad_4 = 0;
  double average = 0, rms = 0;  ///< px: mean and root mean square of the error
  /// px: area under the sparsification curve, as in FlowScores
  double auc = std::numeric_limits<double>::quiet_NaN(), auc_best = std::numeric_limits<double>::quiet_NaN();
  double d1_all = 0;   ///< share, 0..1, of pixels with an error above 3 px and above 5 % of the truth (KITTI)
  double density = 0;  ///< share, 0..1, of pixels with known truth whose estimate is valid; NaN without truth
  std::int64_t pixels = 0;   ///< pixels that count
  std::int64_t unknown = 0;  ///< pixels that do not count because their truth is unknown
  std::int64_t missing = 0;  ///< pixels that do not count because their estimate is unknown
};

/// Scores a disparity field. A pixel counts if both its truth and its estimate are known. A disparity is
/// unknown if it is not finite; the truth is also unknown where its `valid` is 0. Throws
/// Error(invalid_argument) if sizes differ, or if `options.confidence` is set and the estimate has no
/// confidence.
PARAFIELD_API DisparityScores evaluate(const In<DisparityView>& estimate, const In<DisparityView>& truth,
                                       const EvaluationOptions& options = {});

/// How well error bars describe the errors of a field. Scores without a pixel, or without the plane that they
/// need, are NaN.
struct ErrorBarScores {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();  ///< a score without pixels

  /// Coverage: share, 0..1, of pixels whose error is inside the 68 % and the 95 % error ellipse (for
  /// disparities, the interval). Pixels with outlier >= 0.5 are flagged and do not count here.
  double inside68 = none, inside95 = none;
  /// px: area between the sparsification curve (see EvaluationOptions::confidence) of pixels ranked by their
  /// expected error and the curve of the best ranking. The expected error is sqrt(trace) + 4 outlier.
  double ause = none;
  double brier1 = none, brier3 = none;  ///< mean squared errors of the probabilities, above 1 and above 3 px
  /// Expected calibration error of these probabilities: the mean absolute difference between the mean
  /// probability and the share of true outliers, over the classes 0..0.05..0.1..0.2..0.4..0.6..1.
  double ece1 = none, ece3 = none;
  double flagged = none;    ///< share, 0..1, of pixels with outlier >= 0.5
  double above1 = none;     ///< share, 0..1, of pixels with an error above 1 px
  std::int64_t pixels = 0;  ///< pixels that count, as in FlowScores
};

/// Scores error bars. Pixels count as in `evaluate`; `options.confidence` is ignored. Throws
/// Error(invalid_argument) if sizes differ, or if the estimate has neither covariance (sigma) nor outlier.
PARAFIELD_API ErrorBarScores evaluate_error_bars(const In<FlowView>& estimate, const In<FlowView>& truth,
                                                 const EvaluationOptions& options = {});
PARAFIELD_API ErrorBarScores evaluate_error_bars(const In<DisparityView>& estimate,
                                                 const In<DisparityView>& truth,
                                                 const EvaluationOptions& options = {});

/// Scores of a motion mask. As in CDnet, the scores of a sequence are computed from the sums of its frames'
/// counts: `MaskScores sequence; sequence += evaluate(mask, labels);`
struct PARAFIELD_API MaskScores {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();  ///< a score without pixels

  double precision = none;  ///< share, 0..1, of the pixels estimated as moving that really move
  double recall = none;     ///< share, 0..1, of the pixels that really move that are estimated as moving
  double f1 = none;         ///< harmonic mean of precision and recall (CDnet's F-measure)
  double iou = none;        ///< intersection over union of estimate and truth, 0..1
  double pwc = none;        ///< percent, 0..100, of wrong classifications: 100 (FP + FN) / all (CDnet)
  std::int64_t true_positives = 0, false_positives = 0, false_negatives = 0, true_negatives = 0;
  std::int64_t unscored = 0;  ///< pixels whose label excludes them from the scores

  /// Adds the counts of another frame and recomputes all scores from the sums.
  MaskScores& operator+=(const MaskScores& other);
};

/// Scores a motion mask against CDnet's labels (Goyette et al. 2012): 0 is static, 50 is shadow and counts as
/// static, 255 is moving; 85 (outside the region of interest) and 170 (unknown) do not count. A plain mask of
/// 0 and 255 also works. `labels` must have 8 bits per channel and be gray or have equal channels, since
/// CDnet's files have a palette. `options.valid_only` is ignored. Throws Error(invalid_argument) if sizes
/// differ, for another format or any other label, and if `options.confidence` is set, because masks have no
/// such score.
PARAFIELD_API MaskScores evaluate(const In<MotionMaskView>& estimate, const In<Frame>& labels,
                                  const EvaluationOptions& options = {});

}  // namespace parafield
