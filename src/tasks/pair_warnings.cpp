// SPDX-License-Identifier: MIT
#include <cmath>
#include <iomanip>

#include "core/fail.hpp"
#include "parafield/rectification.hpp"
#include "parafield/stereo.hpp"

namespace parafield {
namespace {

/// Formats the value with `digits` decimals.
std::string rounded(double value, int digits) { return text(std::fixed, std::setprecision(digits), value); }

}  // namespace

std::vector<std::string> pair_warnings(const PairFindings& findings, const RowAlignment& rows,
                                       int disparities) {
  std::vector<std::string> all;
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
