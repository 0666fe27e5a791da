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
  std::optional<DisparityView> start = {};  ///< first guess of the disparities, in the frames' memory
};

/// Options of every method of stereo. The steps that refine the result run in the order of their options.
struct StereoOptions {
  static constexpr std::string_view name = "stereo options";

  /// Device of the estimator. Not given: Device::best(). One-shot forms take the device of CUDA frames.
  PF_FIELD(std::optional<Device>, device, {});
  PF_FIELD(Stream, stream, {});  ///< CUDA: the stream to work on; not given: the estimator's own
  PF_PARAMETER(float, lr_check, 0, range(0, 1e6, "px"),
               "Left-right check, 0 = none. A disparity is valid only where the right image's disparity "
               "differs by at most "
               "this. The right image is solved, too, which takes twice the time.");
  PF_PARAMETER(int, speckle, 0, range(0, 1 << 29, "px"),
               "Largest region that is dropped, 0 = none. Connected regions of similar disparity with at "
               "most this many pixels become not valid.");
  PF_PARAMETER(bool, fill, false,
               "Fill in disparities that are not valid. A pixel takes the smaller of the nearest valid "
               "disparities to its left and right: the background's. It stays not valid.");
  PF_PARAMETER(int, final_median, 0, one_of({0, 3, 5}, "px"),
               "Side of a median of the disparities, 0 = none. It is the last step.");
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< called by slow methods: ICM, annealing, belief propagation
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

/// Estimator of disparities. Call it as operator()(left, right). Both images are rectified: a match lies on
/// the same row.
using StereoEstimator = Estimator<Stereo>;

/// One-shot form of the estimator: the disparities of the left image, in the memory of the frames. Throws
/// like the estimator.
PARAFIELD_API DisparityField estimate_disparity(const In<Frame>& left, const In<Frame>& right,
                                                const StereoMethod& method = {},
                                                const StereoOptions& options = {});

/// Depths of the left image: focal_length * baseline / (d + offset), in the unit of `baseline`.
/// `focal_length` is in px of the image. `offset`, in px, is how far the right camera's principal point lies
/// to the right of the left camera's (doffs in Middlebury's calibration files). Depth is infinity where the
/// disparity is not valid or not finite, or where d + offset is not above 0. The disparities and the depths
/// are in host memory. Throws Error(invalid_argument) for a focal length or baseline that is not above 0 and
/// finite, or an offset that is not finite.
PARAFIELD_API Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                                    double offset = 0);

}  // namespace parafield
