// Where OpenCV was not found.
#include "sift.hpp"

namespace parafield::command {

std::vector<Track> sift_tracks(const Frame&, const Frame&, const FeatureTracking&, int) {
  throw Error(
      ErrorCode::unsupported,
      "--features sift needs OpenCV, which this parafield was built without: install its development files "
      "(Debian's libopencv-dev), configure and build again; parafield flow --tracks takes any matcher's "
      "tracks");
}

}  // namespace parafield::command
