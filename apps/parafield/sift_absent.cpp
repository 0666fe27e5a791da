// SPDX-License-Identifier: MIT
// For builds without OpenCV.
#include "sift.hpp"

namespace parafield::command {

std::vector<Track> sift_tracks(const Frame&, const Frame&, const FeatureTracking&, int) {
  throw Error(
      ErrorCode::unsupported,
      "--features sift needs OpenCV; this parafield was built without it. Install its development files "
      "(Debian: libopencv-dev), configure and build again. parafield flow --tracks takes the tracks of any "
      "matcher");
}

}  // namespace parafield::command
