// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "options.hpp"

namespace parafield::command {

/// Throws UsageError if `named`, the parameters given on the command line, contains one that the chosen
/// features ignore.
inline void check_feature_parameters(const std::vector<std::string_view>& named, FeatureChoice features) {
  const bool matches = features == FeatureChoice::matches;
  for (const std::string_view name : named) {
    if (name.starts_with("track_") && matches)
      throw UsageError(fmt::format("{}: --features matches does not use it", option_name(name)));
    if (name.starts_with("match_") && !matches)
      throw UsageError(fmt::format("{} is for --features matches, not {}", option_name(name),
                                   names_of(features)[std::size_t(features)]));
  }
}

}  // namespace parafield::command
