// SPDX-License-Identifier: MIT
#include "sift.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/features2d.hpp>
#include <opencv2/flann.hpp>
#include <opencv2/imgproc.hpp>
#include <tuple>

#include "frames.hpp"

namespace parafield::command {
namespace {

// Lowe's values, except for two: features may have less contrast (OpenCV's default is 0.04) and smaller
// scales (1.6). A flow needs features everywhere, and those without a match are dropped later.
constexpr int octave_layers = 3;
constexpr double least_contrast = 0.005, edge_threshold = 10, sigma = 1.3;

// Most keypoints of a frame, strongest first: the cost of matching grows with the square of their number.
constexpr int most_keypoints = 20000;

// Largest ratio of a descriptor's distances to its nearest one and the next (Lowe 2004, section 7.1).
constexpr float lowe_ratio = 0.8f;

constexpr int neighbors = 8;          // number of matches that a match is compared with
constexpr float least_spread = 0.7f;  // px, as for tracked features

// OpenCV doubles the frame before it looks for features and then halves their positions, as if the center of
// the first pixel had stayed at 0. It lies at 1/2 in the doubled frame.
constexpr float doubling_shift = 0.25f;

struct Keypoints {
  std::vector<cv::KeyPoint> points;
  cv::Mat descriptors;  // one row each
};

struct Match {
  Track track;
  float ratio;  // of distances; a smaller one is more distinct
};

int luma_code(PixelFormat format) {
  return format == PixelFormat::bgr_u8    ? cv::COLOR_BGR2GRAY
         : format == PixelFormat::rgba_u8 ? cv::COLOR_RGBA2GRAY
         : format == PixelFormat::bgra_u8 ? cv::COLOR_BGRA2GRAY
                                          : cv::COLOR_RGB2GRAY;
}

Keypoints keypoints_of(const Frame& frame) {
  const int channels = parafield::channels(frame.format), bytes = bytes_per_pixel(frame.format) / channels;
  const int depth = bytes == 1 ? CV_8U : bytes == 2 ? CV_16U : CV_32F;
  cv::Mat gray(frame.height, frame.width, CV_MAKETYPE(depth, channels), const_cast<void*>(frame.data),
               std::size_t(frame.pitch));
  if (channels > 1) cv::cvtColor(cv::Mat(gray), gray, luma_code(frame.format));
  cv::Mat numbers, luma;
  cv::compare(gray, gray, numbers, cv::CMP_EQ);  // no feature lies on a NaN
  const auto [black, white] = frame.range != ValueRange{} ? frame.range : usual_range(frame.format);
  const double gain = 255.0 / (white - black);
  gray.convertTo(luma, CV_32F, gain, -black * gain);
  cv::patchNaNs(luma);
  luma.convertTo(luma, CV_8U);

  Keypoints found;
  cv::SIFT::create(most_keypoints, octave_layers, least_contrast, edge_threshold, sigma)
      ->detectAndCompute(luma, numbers, found.points, found.descriptors);
  return found;
}

/// Distinct and mutual matches. All pairs of descriptors are compared: FLANN's trees are faster, but random.
std::vector<Match> matches_of(const Keypoints& from, const Keypoints& to) {
  if (from.points.empty() || to.points.empty()) return {};
  const cv::BFMatcher matcher(cv::NORM_L2);
  std::vector<std::vector<cv::DMatch>> nearest;
  matcher.knnMatch(from.descriptors, to.descriptors, nearest, 2);
  std::erase_if(nearest, [](const auto& two) {
    return two.size() < 2 || two[0].distance >= lowe_ratio * two[1].distance;
  });
  cv::Mat reached;  // row i: descriptor of the match nearest[i]
  for (const auto& two : nearest) reached.push_back(to.descriptors.row(two[0].trainIdx));
  if (nearest.empty()) return {};
  std::vector<cv::DMatch> back;
  matcher.match(reached, from.descriptors, back);
  std::vector<Match> matches;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    const cv::DMatch& best = nearest[i][0];
    if (back[i].trainIdx != best.queryIdx) continue;
    const cv::Point2f at = from.points[std::size_t(best.queryIdx)].pt,
                      moved = to.points[std::size_t(best.trainIdx)].pt - at;
    matches.push_back({{at.x - doubling_shift, at.y - doubling_shift, moved.x, moved.y},
                       best.distance / nearest[i][1].distance});
  }
  return matches;
}

/// Keeps the best match at each position: SIFT finds a keypoint once for each dominant direction around it.
void keep_one_of_each_place(std::vector<Match>& matches) {
  const auto place = [](const Match& match) { return std::tuple(match.track.y, match.track.x); };
  std::ranges::sort(matches, {}, [&](const Match& match) {
    return std::tuple_cat(place(match), std::tuple(match.ratio, match.track.v, match.track.u));
  });
  const auto rest = std::ranges::unique(matches, {}, place);
  matches.erase(rest.begin(), rest.end());
}

/// Keeps the best `most` matches, spread over the frame: the best of each cell of a grid with at most that
/// many cells, then the second best of each, and so on.
void keep_best(std::vector<Match>& matches, Size size, int most) {
  std::ranges::stable_sort(matches, {}, &Match::ratio);
  const Size cells = feature_grid(size, most);
  std::vector<int> found(std::size_t(cells.width) * std::size_t(cells.height));
  std::vector<std::pair<int, Match>> ranked;  // rank in its cell
  for (const Match& match : matches) {
    const auto cell_of = [](float at, int side, int count) {
      return std::clamp(int((at + 0.5f) * float(count) / float(side)), 0, count - 1);
    };
    const int column = cell_of(match.track.x, size.width, cells.width),
              row = cell_of(match.track.y, size.height, cells.height);
    ranked.emplace_back(found[std::size_t(row * cells.width + column)]++, match);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<int, Match>::first);
  ranked.resize(std::min(ranked.size(), std::size_t(most)));
  matches.clear();
  for (const auto& [rank, match] : ranked) matches.push_back(match);
}

float median_of(std::vector<float> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Drops each match whose flow differs from the median of its nearest matches by at least `outliers` times
/// their spread. The spread is the median of their distances from that median, at least least_spread. Tracked
/// features have the same rule in cells of a grid.
void drop_outliers(std::vector<Match>& matches, float outliers) {
  if (outliers <= 0 || int(matches.size()) <= neighbors) return;
  cv::Mat places(int(matches.size()), 2, CV_32F), indices(places.rows, neighbors + 1, CV_32S),
      distances(indices.size(), CV_32F);
  for (int i = 0; i < places.rows; ++i) {
    places.at<float>(i, 0) = matches[std::size_t(i)].track.x;
    places.at<float>(i, 1) = matches[std::size_t(i)].track.y;
  }
  cv::flann::GenericIndex<cvflann::L2_Simple<float>> tree(places,
                                                          cvflann::KDTreeSingleIndexParams());  // exact
  tree.knnSearch(places, indices, distances, indices.cols, cvflann::SearchParams());
  std::vector<Match> kept;
  for (int i = 0; i < places.rows; ++i) {
    std::vector<float> u, v, differences;
    const auto difference = [&](float other_u, float other_v) {
      return std::hypot(other_u - median_of(u), other_v - median_of(v));
    };
    for (int k = 0; k < indices.cols; ++k) {
      const Track& near = matches[std::size_t(indices.at<int>(i, k))].track;
      u.push_back(near.u);
      v.push_back(near.v);
    }
    for (std::size_t k = 0; k < u.size(); ++k) differences.push_back(difference(u[k], v[k]));
    const Match& own = matches[std::size_t(i)];
    if (difference(own.track.u, own.track.v) < outliers * std::max(median_of(differences), least_spread))
      kept.push_back(own);
  }
  matches = kept;
}

}  // namespace

std::vector<Track> sift_tracks(const Frame& frame0, const Frame& frame1, const FeatureTracking& tracking,
                               int threads) {
  cv::setNumThreads(-1);  // as many as possible; TBB warns of more
  if (threads > 0) cv::setNumThreads(std::min(threads, cv::getNumThreads()));
  std::vector<Match> matches = matches_of(keypoints_of(frame0), keypoints_of(frame1));
  keep_one_of_each_place(matches);
  drop_outliers(matches, tracking.track_outliers);
  keep_best(matches, frame0.size(), tracking.max_features);
  std::vector<Track> tracks;
  for (const Match& match : matches) tracks.push_back(match.track);
  return tracks;
}

}  // namespace parafield::command
