#pragma once
#include <optional>
#include <span>
#include <variant>

#include "parafield/estimator.hpp"
#include "parafield/methods/label_solvers.hpp"

namespace parafield {

/// A mask of motion that somebody else owns: not 0 where something moves.
struct MotionMaskView {
  View<const std::uint8_t> moving;

  Size size() const { return moving.size(); }
};

/// 1 where the newer frame shows something that moves (or where something has gone), 0 elsewhere. `valid` is 0 where a
/// frame has no value (NaN). `confidence`: by how much the other label would raise the pixel's own energy, >= 0.
struct MotionMask {
  Image<std::uint8_t> moving, valid;
  Image<float> confidence;

  MotionMask() = default;
  explicit MotionMask(Size size, Memory memory = {})
      : moving(size, memory), valid(size, memory), confidence(size, memory) {}

  Size size() const { return moving.size(); }
  Memory memory() const { return moving.memory(); }
  MotionMask to(Memory memory) const;  ///< a copy in another memory
  operator MotionMaskView() const { return {moving}; }
};

struct DetectionInput {
  std::span<const Frame> frames;  ///< two, in time order
  std::optional<MotionMaskView> start =
      {};  ///< the last pair's mask, for the temporal term, in the frames' memory
};

/// Options of every method of motion detection.
struct DetectionOptions {
  static constexpr std::string_view name = "detection options";

  PF_FIELD(EnergyReport, energies, EnergyReport::none);
  PF_FIELD(ProgressCallback, progress, {});  ///< for slow methods: ICM, annealing
};

/// Every method of motion detection.
using DetectionMethod =
    std::variant<Icm<ChangeEnergy>, Annealing<ChangeEnergy>, WinnerTakesAll<ChangeEnergy>>;

struct Detection {
  static constexpr bool streams = true;
  using Method = DetectionMethod;
  using Input = DetectionInput;
  using Options = DetectionOptions;
  using Result = MotionMask;
};

/// Of a still camera. Pushed frames use the last pair's mask.
using MotionDetector = Estimator<Detection>;

/// One-shot form, where the frames are. Throws like the detector.
MotionMask detect_motion(const Frame& frame0, const Frame& frame1, const DetectionMethod& method = {},
                         const Device& device = Device::best(), const DetectionOptions& options = {});

}  // namespace parafield
