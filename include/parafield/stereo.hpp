// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "parafield/estimator.hpp"
#include "parafield/fields.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {

/// Input of a stereo estimator.
struct StereoInput {
  std::span<const Frame> frames;            ///< left, right
  std::optional<DisparityView> start = {};  ///< a first guess, in the frames' memory
};

/// Options of every method of stereo. The steps that refine the result come in this order.
struct StereoOptions {
  static constexpr std::string_view name = "stereo options";

  /// Device of the estimator. Not given: Device::best(). One-shot forms take the device of CUDA frames.
  PF_FIELD(std::optional<Device>, device, {});
  PF_FIELD(Stream, stream, {});  ///< CUDA: the stream to work on; not given: the estimator's own
  PF_PARAMETER(
      float, lr_check, 0, range(0, 1e6, "px"),
      "Left-right check. A disparity is valid only where the right image's disparity differs by at most "
      "this. The right image is solved, too, which takes twice the time. 0 = no check.");
  PF_PARAMETER(int, speckle, 0, range(0, 1 << 29, "px"),
               "Connected regions of at most this many pixels are not valid. 0 = all are kept.");
  PF_PARAMETER(
      bool, fill, false,
      "Pixels that are not valid take the smaller of the nearest valid disparities on their row: the "
      "background's. They stay not valid.");
  PF_PARAMETER(int, final_median, 0, one_of({0, 3, 5}, "px"),
               "Side of a median of the disparities, the last step. 0 = none.");
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< for slow methods: ICM, annealing, belief propagation
};

/// Every method of stereo.
using StereoMethod = std::variant<WinnerTakesAll<StereoEnergy>, Icm<StereoEnergy>, Annealing<StereoEnergy>,
                                  BeliefPropagation<StereoEnergy>>;

/// The task of stereo.
struct PARAFIELD_API Stereo {
  static constexpr bool streams = false;  ///< frames come in pairs
  using Method = StereoMethod;
  using Input = StereoInput;
  using Options = StereoOptions;
  using Result = DisparityField;
};

/// Estimator of disparities: operator()(left, right). Both are rectified: a match lies on the same row.
using StereoEstimator = Estimator<Stereo>;

/// One-shot form: the disparities of the left image, where the frames are. Throws like the estimator.
PARAFIELD_API DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right,
                                                const StereoMethod& method = {},
                                                const StereoOptions& options = {});

/// Depths of the left image, in the unit of `baseline`: focal_length * baseline / (d + offset).
/// `focal_length` is in px of the image. `offset`, px, is how far the right camera's principal point lies to
/// the right of the left one's (doffs in Middlebury's calibration files). Depth is infinity where the
/// disparity is not valid or not finite, or d + offset is not above 0. Everything is in host memory. Throws
/// Error(invalid_argument) for a focal length or baseline that is not above 0 and finite, or an offset that
/// is not finite.
PARAFIELD_API Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                                    double offset = 0);

}  // namespace parafield
