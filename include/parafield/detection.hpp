// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "parafield/background.hpp"
#include "parafield/estimator.hpp"
#include "parafield/fields.hpp"
#include "parafield/methods/label_presets.hpp"

namespace parafield {

/// Input of a motion detector.
struct DetectionInput {
  std::span<const Frame> frames;  ///< two, in time order
  /// The last pair's mask, for the temporal term, in the frames' memory.
  std::optional<MotionMaskView> start = {};
};

/// Options of every method of motion detection.
struct DetectionOptions {
  static constexpr std::string_view name = "detection options";

  /// Device of the estimator, such as Device::cpu(). Not given: Device::best(); one-shot functions use the
  /// device that CUDA frames are on.
  PF_FIELD(std::optional<Device>, device, {});
  PF_FIELD(Stream, stream, {});  ///< CUDA: the stream to work on; not given: the estimator's own
  /// push() returns the previous frame's result while a GPU works on the new frame: see Estimator::push.
  PF_FIELD(bool, pipelined, false);
  /// CUDA: set it if three or more estimators share the device. The total work is then less, but a frame on
  /// its own takes longer. Results are the same.
  PF_FIELD(bool, throughput, false);
  /// Look for cuts in frames in host memory. At a cut nothing moves, no pixel is valid, and the method starts
  /// anew, with a new background. See Estimator::frames_state.
  PF_FIELD(bool, examine_frames, false);
  PF_PARAMETER(
      bool, freeze, false,
      "Learn nothing more. Frames are compared with the given background, or with the first frame if "
      "none is given. It needs a method that learns a background.");
  /// Background that pushed frames and calls start from, instead of their first frame. It must be from the
  /// same method and for frames of the same size and range; otherwise the constructor or the first call
  /// throws Error(invalid_argument).
  PF_FIELD(std::shared_ptr<const LearnedBackground>, background, {});
  /// Where to detect, in host memory, of the frames' size: only pixels that are not 0 here can move. The
  /// other pixels are not valid, and nothing is learned from them.
  PF_FIELD(std::shared_ptr<const Image<std::uint8_t>>, region, {});
  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< for slow methods: ICM, annealing
};

/// Every method of motion detection.
using DetectionMethod =
    std::variant<Icm<ChangeEnergy>, Annealing<ChangeEnergy>, WinnerTakesAll<ChangeEnergy>,
                 Icm<BackgroundEnergy>, Annealing<BackgroundEnergy>, WinnerTakesAll<BackgroundEnergy>>;

/// The task of motion detection.
struct PARAFIELD_API Detection {
  static constexpr bool streams = true;  ///< frames follow each other: they can be pushed
  static constexpr bool pairs = false;
  static constexpr bool learns = true;  ///< what methods have learned can be kept: Estimator::background
  using Method = DetectionMethod;
  using Input = DetectionInput;
  using Options = DetectionOptions;
  using Result = MotionMask;
};

/// Estimator of motion masks, for a still camera. Pushed frames use the last pair's mask. Methods that learn
/// a background learn it from all pushed frames; reset() forgets it and returns to the options' background.
using MotionDetector = Estimator<Detection>;

/// One-shot form: returns the mask of two frames, in their memory. Throws like the detector.
PARAFIELD_API MotionMask detect_motion(const In<Frame>& frame0, const In<Frame>& frame1,
                                       const DetectionMethod& method = {},
                                       const DetectionOptions& options = {});

}  // namespace parafield
