#pragma once
#include <cstdint>
#include <limits>

#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"

namespace parafield {

/// Error of a flow field against the truth, over the pixels that count.
struct FlowScores {
  double aae = 0,
         aae_std = 0;  ///< degrees: angle between (u, v, 1) and the true one (Barron; Marzat section 2.4)
  double epe = 0, epe_std = 0;    ///< px: length of the difference (Marzat section 2.4)
  double r1 = 0, r3 = 0, r5 = 0;  ///< share of pixels, 0..1, with an endpoint error above 1, 3, 5 px
  double density = 0;        ///< share, 0..1, of the pixels with known truth that the estimate calls valid
  std::int64_t pixels = 0;   ///< pixels that count
  std::int64_t unknown = 0;  ///< pixels left out because their truth is unknown
  std::int64_t missing = 0;  ///< pixels left out because the estimate has no value there
};

struct EvaluationOptions {
  View<const std::uint8_t> mask = {};  ///< pixels that are 0 are left out
  bool valid_only = false;             ///< count only what the estimate calls valid
};

/// Every pixel with known truth counts (inside the mask, where one is given). Unknown: `truth.valid` 0, or
/// |u| or |v| > 1e9 or NaN. Everything in host memory. Means and deviations (of the population) in float64,
/// in row order. Throws Error(invalid_argument) for sizes that differ. Without a pixel that counts, the
/// errors are NaN; without known truth, the density is NaN too.
PARAFIELD_API FlowScores evaluate(const FlowView& estimate, const FlowView& truth, const EvaluationOptions& options = {});

/// Error of a disparity field, |d - truth| in px, over the pixels that count.
struct DisparityScores {
  double bad_0_5 = 0, bad_1 = 0, bad_2 = 0,
         bad_4 = 0;             ///< share of pixels, 0..1, with an error above 0.5, 1, 2, 4 px (Middlebury)
  double average = 0, rms = 0;  ///< px: mean of the error, root of the mean of its square
  double d1_all = 0;   ///< share of pixels, 0..1, with an error above 3 px and above 5 % of the truth (KITTI)
  double density = 0;  ///< share, 0..1, of the pixels with known truth that the estimate calls valid
  std::int64_t pixels = 0;   ///< pixels that count
  std::int64_t unknown = 0;  ///< pixels left out because their truth is unknown
  std::int64_t missing = 0;  ///< pixels left out because the estimate has no value there
};

/// As for flow: every pixel with known truth counts, also where the estimate is not valid, unless `valid_only`. Truth
/// is unknown where `truth.valid` is 0 or it is infinite or NaN; an estimate that is infinite or NaN is missing. Host
/// memory. Throws Error(invalid_argument) for sizes that differ. Without a pixel that counts, the errors are NaN;
/// without known truth, the density is NaN too.
PARAFIELD_API DisparityScores evaluate(const DisparityView& estimate, const DisparityView& truth,
                         const EvaluationOptions& options = {});

/// How well a mask of motion finds what moves. The counts of several frames add up, and their scores with them, which
/// is how CDnet scores a sequence: `MaskScores sequence; sequence += evaluate(mask, labels);`
struct PARAFIELD_API MaskScores {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();  ///< a score of no pixels

  double precision = none;  ///< share, 0..1, of what the estimate calls moving that does move
  double recall = none;     ///< share, 0..1, of what moves that the estimate calls moving
  double f1 = none;         ///< harmonic mean of precision and recall (CDnet's F-measure)
  double iou = none;        ///< share, 0..1: intersection of estimate and truth / their union
  double pwc = none;        ///< percentage, 0..100, of wrong classifications: 100 (FP + FN) / all (CDnet)
  std::int64_t true_positives = 0, false_positives = 0, false_negatives = 0, true_negatives = 0;
  std::int64_t unscored = 0;  ///< pixels left out because their label says so

  /// Adds another frame's counts and derives the scores from the sums.
  MaskScores& operator+=(const MaskScores& other);
};

/// `labels` is the truth as CDnet draws it (Goyette et al. 2012): 0 static, 50 shadow (static, too), 255 moving; 85
/// (outside the region of interest) and 170 (unknown) do not count. So a plain mask of 0 and 255 is one, too. A frame
/// of 8 bit, gray or with equal channels (CDnet's files have a palette); host memory. Pixels count inside
/// `options.mask`; `valid_only` says nothing here. Throws Error(invalid_argument) for sizes that differ, another format
/// and another label.
PARAFIELD_API MaskScores evaluate(const MotionMaskView& estimate, const Frame& labels,
                    const EvaluationOptions& options = {});

}  // namespace parafield
