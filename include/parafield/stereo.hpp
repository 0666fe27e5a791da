// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "parafield/estimator.hpp"
#include "parafield/fields.hpp"
#include "parafield/methods/label_presets.hpp"

namespace parafield {

struct RowAlignment;  // rectification.hpp

/// Input of a stereo estimator.
struct StereoInput {
  std::span<const Frame> frames;            ///< left, right
  std::optional<DisparityView> start = {};  ///< first guess of the disparities, in the frames' memory
};

/// Options of every method of stereo.
struct StereoOptions {
  static constexpr std::string_view name = "stereo options";

  /// Device of the estimator, such as Device::cpu(). Not given: Device::best(); one-shot functions use the
  /// device that CUDA frames are on.
  PF_FIELD(std::optional<Device>, device, {});
  PF_FIELD(Stream, stream, {});  ///< CUDA: the stream to work on; not given: the estimator's own
  /// CUDA: set it if three or more estimators share the device. The total work is then less, but a frame on
  /// its own takes longer. Results are the same.
  PF_FIELD(bool, throughput, false);
  /// Look for missing texture in images in host memory: without texture, no disparity is valid, unless
  /// min_confidence is 0. See Estimator::frames_state. The disparities do not change.
  PF_FIELD(bool, examine_frames, false);
  PF_PARAMETER(
      float, min_confidence, -1, range(-1, 1e6),
      "Least confidence of valid disparities. -1 = the method's own, which costs few pixels that are "
      "right. 0 = none. Each method has its own scale.");
  /// Whether results have error bars: the standard deviation of each disparity. Error bars need a method that
  /// has them: belief-propagation with the left-right check.
  PF_FIELD(bool, sigma, false);
  /// Whether results say how likely large errors are: `outlier` and `outlier3`.
  PF_FIELD(bool, outlier, false);
  PF_FIELD(bool, cause, false);  ///< whether results say why errors may be large
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< called by slow methods: ICM, annealing, belief propagation

  /// The planes that results have.
  FieldPlanes planes() const { return {true, true, sigma, outlier, cause}; }
};

/// Every method of stereo. The first is the default.
using StereoMethod = std::variant<BeliefPropagation<StereoEnergy>, WinnerTakesAll<StereoEnergy>,
                                  Icm<StereoEnergy>, Annealing<StereoEnergy>>;

/// Whether a method has error bars: the options sigma, outlier and cause.
inline bool has_error_bars(const StereoMethod& method) {
  const auto* const propagation = std::get_if<BeliefPropagation<StereoEnergy>>(&method);
  return propagation && propagation->energy.checks.lr_check > 0;
}

/// The task of stereo.
struct PARAFIELD_API Stereo {
  static constexpr bool streams = false;  ///< frames come in pairs
  static constexpr bool pairs = true;     ///< which can be pushed
  static constexpr bool learns = false;
  using Method = StereoMethod;
  using Input = StereoInput;
  using Options = StereoOptions;
  using Result = DisparityField;
};

/// Estimator of disparities. Call it as operator()(left, right), or push the pairs of a stereo camera's
/// video. Both images must be rectified, so that a match is on the same row. If the method's `disparities` is
/// 0, the estimator finds the number in the first pair that is not blank (see Estimator::examine). method()
/// then returns the method with that number, and reset() forgets it.
using StereoEstimator = Estimator<Stereo>;

/// One-shot form of the estimator. Returns the disparities of the left image, in the frames' memory. Low
/// contrast of 8-bit frames that name no range is stretched (see find_value_range). Throws like the
/// estimator.
PARAFIELD_API DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right,
                                                const StereoMethod& method = {},
                                                const StereoOptions& options = {});

/// Findings of a coarse search in a pair.
struct PairFindings {
  int disparities = 1;  ///< number of disparities that the pair needs, counted from min_disparity
  float matched = 0;    ///< share, 0..1, of the left image's pixels whose matches agree in both directions
  float negative = 0;   ///< share, 0..1, of the matched pixels whose disparity is below 0 and min_disparity
  /// Correlation, -1..1, between the values of matched pixels in the left and in the right image: the share
  /// of their variance that both images have in common. The rest is noise.
  float correlation = 0;
  /// Whether the images show more than noise. Without texture, nothing can be matched, and rows cannot be
  /// compared.
  bool textured = true;
  /// Whether the views seem to be swapped, because most of the matched pixels are farther right in the right
  /// image. False if few pixels are matched or the pair is blank.
  bool swapped() const { return negative > 0.6f && matched > 0.4f && !blank(); }
  /// Whether `disparities` is meaningless, because almost nothing is matched (a black pair), or because the
  /// matches have more noise than texture (covered cameras). Unrelated noise reaches a correlation of 0.4 if
  /// a window of 7 x 7 px takes the best of 100 positions.
  bool blank() const { return matched < 0.05f || correlation < 0.5f; }
};

/// Examines a rectified pair at a width of at most 128 px: finds disparities of both signs up to 0.4 of the
/// width. `min_disparity`: the least disparity, from which `disparities` counts. The frames may be in the
/// memory of a device; the call then waits for them. Throws Error(invalid_argument) for frames that differ in
/// size, and for frames that an estimator refuses.
PARAFIELD_API PairFindings examine_pair(const In<Frame>& left, const In<Frame>& right, int min_disparity = 0);

/// Returns what seems to be wrong with a pair, one line of text per problem: the views are swapped,
/// `disparities` is too small (0 = found in the pair, never too small), the rows are not aligned, or the
/// images have no texture.
PARAFIELD_API std::vector<std::string> pair_warnings(const PairFindings& findings, const RowAlignment& rows,
                                                     int disparities = 0);

/// Where the views of a stereo camera are in one frame.
enum class ViewLayout { side_by_side, over_under };

/// Returns the left and the right view of a frame that holds both: the left one in the left or the upper
/// half, or in the other one if `right_first`. They refer to the frame's pixels. Throws
/// Error(invalid_argument) for a frame whose width or height is odd.
PARAFIELD_API std::array<Frame, 2> split_views(const Frame& frame, ViewLayout layout,
                                               bool right_first = false);

/// Depths of the left image: focal_length * baseline / (d + offset), in the unit of `baseline`.
/// `focal_length` is in px of the image. `offset`, in px, is how far the right camera's principal point lies
/// to the right of the left camera's (doffs in Middlebury's calibration files). The depth is infinite where
/// the disparity is not valid or not finite, or where d + offset is not above 0. The disparities and the
/// depths are in host memory. Throws Error(invalid_argument) for a focal length or baseline that is not above
/// 0 and finite, or an offset that is not finite.
PARAFIELD_API Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                                    double offset = 0);

/// Standard deviations of the depths of depth_of, in the unit of `baseline`: z^2 / (focal_length * baseline)
/// times the disparity's sigma. Infinite where the depth is infinite. Throws like depth_of, and
/// Error(invalid_argument) if the disparities have no sigma.
PARAFIELD_API Image<float> depth_sigma_of(const In<DisparityView>& disparity, double focal_length,
                                          double baseline, double offset = 0);

}  // namespace parafield
