// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "evaluation/scores.hpp"

namespace parafield {
namespace {

/// The curve up to here, and the area under it.
struct Curve {
  Moments errors, area;

  void add(double error) {
    errors.add(error);
    area.add(errors.mean);
  }
};

}  // namespace

std::pair<double, double> areas_under_curves(std::span<RankedError> pixels) {
  for (RankedError& pixel : pixels)
    if (std::isnan(pixel.confidence)) pixel.confidence = -std::numeric_limits<float>::infinity();
  // Sorting by both keys gives the sums the same order whatever the order of the pixels.
  std::ranges::sort(pixels, [](const RankedError& a, const RankedError& b) {
    return a.confidence != b.confidence ? a.confidence > b.confidence : a.error < b.error;
  });
  Curve ranked, best;
  for (auto begin = pixels.begin(); begin != pixels.end();) {
    const auto end =
        std::find_if(begin, pixels.end(), [confidence = begin->confidence](const RankedError& pixel) {
          return pixel.confidence != confidence;
        });
    Moments shared;
    for (auto pixel = begin; pixel != end; ++pixel) shared.add(pixel->error);
    for (; begin != end; ++begin) ranked.add(shared.mean);
  }
  std::ranges::sort(pixels, {}, &RankedError::error);
  for (const RankedError& pixel : pixels) best.add(pixel.error);
  return {ranked.area.average(), best.area.average()};
}

}  // namespace parafield
