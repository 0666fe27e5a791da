// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "parafield/estimator.hpp"
#include "parafield/fields.hpp"
#include "parafield/methods/adaptive_ridge.hpp"
#include "parafield/methods/direct_interpolation.hpp"
#include "parafield/methods/gradient_tensor.hpp"
#include "parafield/methods/label_presets.hpp"
#include "parafield/methods/lucas_kanade.hpp"
#include "parafield/methods/multi_hypothesis.hpp"
#include "parafield/methods/ridge_regression.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// Input of a flow estimator. An input that the method does not use is an error.
struct FlowInput {
  std::span<const Frame> frames;       ///< as many as the method needs, in time order
  std::optional<FlowView> start = {};  ///< a first guess of the flow, in the frames' memory
  /// Features and their flow, in the frames' memory: 0 to max_features of them. Only direct-interpolation and
  /// multi-hypothesis use them. If they are not given, the method finds features itself.
  std::optional<std::span<const Track>> tracks = {};
  /// How the camera turned. Only direct-interpolation and multi-hypothesis use it.
  std::optional<CameraRotation> rotation = {};
};

/// Options of every method of flow. The steps that refine the result run in the order fb_check, speckle,
/// fill, final_median.
struct FlowOptions {
  static constexpr std::string_view name = "flow options";

  /// Device of the estimator, such as Device::cpu(). Not given: Device::best(); one-shot functions use the
  /// device that CUDA frames are on.
  PF_FIELD(std::optional<Device>, device, {});
  PF_FIELD(Stream, stream, {});  ///< CUDA: the stream to work on; not given: the estimator's own
  /// push() returns the previous frame's result while a GPU works on the new frame: see Estimator::push.
  PF_FIELD(bool, pipelined, false);
  /// CUDA: set it if three or more estimators share the device. The total work is then less, but a frame on
  /// its own takes longer. Results are the same.
  PF_FIELD(bool, throughput, false);
  /// Look for cuts and missing texture in frames in host memory. Flow between different scenes and between
  /// frames without texture is not valid, unless min_confidence is 0, and after a cut a method of two frames
  /// starts anew. See Estimator::frames_state. u and v do not change.
  PF_FIELD(bool, examine_frames, false);
  PF_PARAMETER(
      float, fb_check, 0, range(0, 1e6, "px"),
      "Forward-backward check, 0 = none. Flow is valid only where the second frame's flow leads back to "
      "within this distance. The check needs a method of two frames and takes twice the time.");
  PF_PARAMETER(int, speckle, 0, range(0, 1 << 29, "px"),
               "Largest region that is dropped, 0 = none. Connected regions of similar flow with at most "
               "this many pixels become not valid.");
  PF_PARAMETER(bool, fill, false,
               "Fill in flow that is not valid. A pixel takes the shorter of the nearest valid flows to its "
               "left and right. It stays not valid.");
  PF_PARAMETER(int, final_median, 0, one_of({0, 3, 5}, "px"),
               "Side of a median of the flow, 0 = none. It is the last step.");
  PF_PARAMETER(float, min_confidence, -1, range(-1, 1e6),
               "Least confidence of valid flow. -1 = the method's own, which costs few pixels that are "
               "right. 0 = none. Each method has its own scale.");
  PF_FIELD(bool, valid, true);       ///< whether results have a valid plane
  PF_FIELD(bool, confidence, true);  ///< whether results have a confidence
  /// Whether results have error bars: the covariance of each vector. Error bars need a method that has them:
  /// adaptive-ridge. Ask for fb_check, too, where motion is large: without the flow back, a wrong motion that
  /// matches well looks right.
  PF_FIELD(bool, covariance, false);
  /// Whether results say how likely large errors are: `outlier` and `outlier3`.
  PF_FIELD(bool, outlier, false);
  PF_FIELD(bool, cause, false);  ///< whether results say why errors may be large
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< called by slow methods: ICM, annealing, belief propagation

  /// The planes that results have.
  FieldPlanes planes() const { return {valid, confidence, covariance, outlier, cause}; }
};

/// Every method that estimates flow.
using FlowMethod =
    std::variant<AdaptiveRidge, LucasKanade, Icm<DisplacementEnergy>, Annealing<DisplacementEnergy>,
                 WinnerTakesAll<DisplacementEnergy>, BeliefPropagation<DisplacementEnergy>, GradientTensor,
                 RidgeRegression, DirectInterpolation, MultiHypothesis>;

/// The task of optical flow.
struct PARAFIELD_API Flow {
  static constexpr bool streams = true;  ///< frames follow each other: they can be pushed
  static constexpr bool pairs = false;
  static constexpr bool learns = false;
  using Method = FlowMethod;
  using Input = FlowInput;
  using Options = FlowOptions;
  using Result = FlowField;
};

/// Estimator of flow. Call operator() with two frames or a FlowInput, or push the frames of a sequence.
using FlowEstimator = Estimator<Flow>;

/// Number of frames that a method takes. Its flow belongs to the middle one, or to the first of two.
inline int frames_of(const FlowMethod& method) {
  return std::visit([](const auto& chosen) { return chosen.frames; }, method);
}

/// Whether a method has error bars: the options covariance, outlier and cause.
inline bool has_error_bars(const FlowMethod& method) { return std::holds_alternative<AdaptiveRidge>(method); }

/// One-shot form of the estimator. Takes as many frames as the method needs and returns their flow, in the
/// frames' memory. Low contrast of 8-bit frames that name no range is stretched (see find_value_range).
/// Throws like the estimator.
PARAFIELD_API FlowField estimate_flow(std::span<const Frame> frames, const FlowMethod& method,
                                      const FlowOptions& options = {});

/// One-shot form for two frames: the flow from frame0 to frame1.
PARAFIELD_API FlowField estimate_flow(const In<Frame>& frame0, const In<Frame>& frame1,
                                      const FlowMethod& method = {}, const FlowOptions& options = {});

}  // namespace parafield
