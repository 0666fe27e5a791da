#pragma once
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "options.hpp"

/// --features sift: tracks from OpenCV's SIFT (Lowe 2004), for motions that tracking does not reach.
namespace parafield::command {

inline constexpr CommandValue sift_features{
    "features", "sift",
    "sift: OpenCV's SIFT features of both frames (Lowe 2004), matched with ratio and mutual test, on the "
    "CPU; of the "
    "parameters below it has max-features, and track-outliers, which counts the 9 nearest"};

/// Throws UsageError for a parameter of tracking alone among those that the command line names.
inline void check_sift_parameters(const std::vector<std::string_view>& named) {
  for (const std::string_view name : named)
    if (name.starts_with("track_") && name != "track_outliers")
      throw UsageError(
          fmt::format("{}: --features sift has no use for it, it does not track", option_name(name)));
}

/// "parameters" of a report name what was used.
inline void add_sift(Json& parameters) {
  for (const ParameterValue& each : parameters_of(FeatureTracking{}))
    if (each.name.starts_with("track_") && each.name != "track_outliers")
      parameters.erase(std::string(each.name));
  parameters["features"] = sift_features.value;
}

/// Features of frame0 and where they are in frame1, both in host memory: `max_features` at most, the best of each part of the
/// frame first. Those are kept whose match is much nearer than the next one and is mutual, and whose flow fits those around
/// (`track_outliers`); of `tracking` nothing else is used. `threads`: of the CPU, 0 = one for each core. The same on any
/// number of them. Throws Error(unsupported) where parafield was built without OpenCV.
std::vector<Track> sift_tracks(const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking,
                               int threads);

}  // namespace parafield::command
