// SPDX-License-Identifier: MIT
#pragma once
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
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< called by slow methods: ICM, annealing, belief propagation
};

/// Every method of stereo. The first is the default.
using StereoMethod = std::variant<BeliefPropagation<StereoEnergy>, WinnerTakesAll<StereoEnergy>,
                                  Icm<StereoEnergy>, Annealing<StereoEnergy>>;

/// The task of stereo.
struct PARAFIELD_API Stereo {
  static constexpr bool streams = false;  ///< frames come in pairs
  static constexpr bool pairs = true;     ///< which can be pushed
  using Method = StereoMethod;
  using Input = StereoInput;
  using Options = StereoOptions;
  using Result = DisparityField;
};

/// Estimator of disparities. Call it as operator()(left, right), or push the pairs of a stereo camera's
/// video. Both images are rectified: a match lies on the same row. A method with disparities = 0 gets their
/// number from the first pair that is not blank, by `examine_pair`; method() says it then, and `reset()`
/// forgets it.
using StereoEstimator = Estimator<Stereo>;

/// One-shot form of the estimator: the disparities of the left image, in the memory of the frames. Throws
/// like the estimator.
PARAFIELD_API DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right,
                                                const StereoMethod& method = {},
                                                const StereoOptions& options = {});

/// What a coarse search finds out about a pair.
struct PairFindings {
  int disparities = 1;  ///< number of disparities, from 0 or from below 0 on, that the pair needs
  float matched = 0;    ///< share, 0..1, of the left image's pixels whose matches agree in both directions
  float negative = 0;   ///< share, 0..1, of the matched pixels with a disparity below -1 px or so
  /// Correlation, -1..1, of the values that matched pixels have in the left and in the right image. It is the
  /// share of their variance that both images have in common; the rest is noise.
  float correlation = 0;
  /// Whether the views seem to be swapped: most of the matched pixels lie farther right in the right image.
  /// Where few are matched, or the pair is blank, nothing is said.
  bool swapped() const { return negative > 0.6f && matched > 0.4f && !blank(); }
  /// Whether `disparities` says nothing: next to nothing is matched, as in a black pair, or the matches have
  /// more noise than texture, as those of covered cameras. Unrelated noise has a correlation of up to 0.4,
  /// where a window of 7 x 7 px takes the best of 100 places.
  bool blank() const { return matched < 0.05f || correlation < 0.5f; }
};

/// Examines a rectified pair at a width of at most 128 px: finds disparities of both signs up to 0.4 of the
/// width. `min_disparity`: the least disparity that `disparities` counts from. The frames may lie in the
/// memory of a device, which is waited for. Throws Error(invalid_argument) for frames that differ in size,
/// and for what an estimator refuses.
PARAFIELD_API PairFindings examine_pair(const In<Frame>& left, const In<Frame>& right, int min_disparity = 0);

/// What seems to be wrong with a pair, a line of text each: the views are swapped, `disparities` are too few
/// (0: their number is found), or the rows are not aligned.
PARAFIELD_API std::vector<std::string> pair_warnings(const PairFindings& findings, const RowAlignment& rows,
                                                     int disparities = 0);

/// Depths of the left image: focal_length * baseline / (d + offset), in the unit of `baseline`.
/// `focal_length` is in px of the image. `offset`, in px, is how far the right camera's principal point lies
/// to the right of the left camera's (doffs in Middlebury's calibration files). Depth is infinity where the
/// disparity is not valid or not finite, or where d + offset is not above 0. The disparities and the depths
/// are in host memory. Throws Error(invalid_argument) for a focal length or baseline that is not above 0 and
/// finite, or an offset that is not finite.
PARAFIELD_API Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                                    double offset = 0);

}  // namespace parafield
