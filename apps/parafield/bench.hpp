// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "parafield/parafield.hpp"

/// Measurements of `parafield bench`: one method on one device at one size.
namespace parafield::command {

/// Rendered scene of all measurements: a sequence, so that pairs differ and streams continue.
struct BenchScene {
  static constexpr std::string_view name = "affine";
  static constexpr int frames = 7;
  static constexpr std::uint64_t seed = 1;
};

/// A real pair of frames with its true flow.
struct BenchPair {
  std::string name;
  FrameBuffer frame0, frame1;
  FlowField truth;
};

/// What results have.
enum class ResultPlanes {
  all,
  flow,   ///< no valid plane and no confidence
  halves  ///< as `flow`; results in host memory are halves
};

struct Case {
  FlowMethod method;
  std::string preset;
  DeviceInfo device;
  Size size;
  ResultPlanes planes = ResultPlanes::all;

  FlowOptions options() const {
    const bool all = planes == ResultPlanes::all;
    return {.device = device.device, .valid = all, .confidence = all};
  }
};

struct Measurement {
  Times resident;                  ///< one call; frames and result in the device's memory
  Times streaming;                 ///< one frame pushed, in the device's memory
  Times end_to_end;                ///< one call; frames and result in host memory (pinned, for a GPU)
  Times overlapped;                ///< one frame pushed ahead; the same memory
  double scene_aae = 0;            ///< degrees; mean over all pairs of the scene
  std::optional<double> data_aae;  ///< degrees; for the real pair
  std::size_t workspace_bytes = 0;
  std::optional<double> frames_per_second;  ///< of all streams of --streams together
};

/// The pair yos08-09 of folder/yosemite/noclouds. Throws like read_frame and read_flow.
BenchPair read_yosemite(const std::string& folder);

Measurement measure_case(const Case& one, const Scene& scene, const BenchPair* data, const Repeats& repeats,
                         int streams);

}  // namespace parafield::command
