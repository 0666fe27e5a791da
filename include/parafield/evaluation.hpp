#pragma once
#include <cstdint>

#include "parafield/flow.hpp"

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
FlowScores evaluate(const FlowView& estimate, const FlowView& truth, const EvaluationOptions& options = {});

}  // namespace parafield
