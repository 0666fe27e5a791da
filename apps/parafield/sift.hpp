// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "options.hpp"

/// --features sift: tracks from OpenCV's SIFT (Lowe 2004), for motion that is too large for tracking.
namespace parafield::command {

inline constexpr CommandValue sift_features{
    "features", "sift",
    "sift: OpenCV's SIFT features of both frames (Lowe 2004), matched with ratio and mutual test, on the "
    "CPU. Of the parameters below it uses max-features, and track-outliers with the 9 nearest features"};

/// Throws UsageError if `named` has a parameter that these features do not use.
inline void check_feature_parameters(const std::vector<std::string_view>& named, FeatureChoice features,
                                     bool sift) {
  const bool matches = features == FeatureChoice::matches && !sift;
  for (const std::string_view name : named) {
    const bool of_tracking = name.starts_with("track_") && !(sift && name == "track_outliers");
    if (of_tracking && (matches || sift))
      throw UsageError(fmt::format("{}: --features {} does not use it", option_name(name),
                                   sift ? sift_features.value : "matches"));
    if (name.starts_with("match_") && !matches)
      throw UsageError(fmt::format("{} is for --features matches, not {}", option_name(name),
                                   sift ? sift_features.value : names_of(features)[std::size_t(features)]));
  }
}

/// Removes parameters that SIFT does not use from a report, and sets features.
inline void add_sift(Json& parameters) {
  for (const ParameterValue& each : parameters_of(FeatureTracking{}))
    if ((each.name.starts_with("track_") && each.name != "track_outliers") || each.name.starts_with("match_"))
      parameters.erase(std::string(each.name));
  parameters["features"] = sift_features.value;
}

/// Tracks from frame0 to frame1, both in host memory: at most `max_features`, the best of each part of the
/// frame first. Matches are kept that are mutual and much nearer than the second nearest, and whose flow
/// agrees with those around it (`track_outliers`). No other field of `tracking` is used. `threads` are those
/// of the CPU, 0 = one for each core; the result is the same for any number. Throws Error(unsupported) if
/// parafield was built without OpenCV.
std::vector<Track> sift_tracks(const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking,
                               int threads);

}  // namespace parafield::command
