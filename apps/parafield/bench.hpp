#pragma once
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "parafield/parafield.hpp"
#include "parameters.hpp"

/// What `parafield bench` measures of one method, device and size.
namespace parafield::command {

/// The rendered scene of every measurement: a sequence, so that pairs differ and streams go on.
struct BenchScene {
  static constexpr std::string_view name = "affine";
  static constexpr int frames = 7;
  static constexpr std::uint64_t seed = 1;
};

/// A real pair and its truth.
struct BenchPair {
  std::string name;
  FrameBuffer frame0, frame1;
  FlowField truth;
};

struct Case {
  FlowMethod method;
  std::string preset;
  DeviceInfo device;
  Size size;
};

struct Measurement {
  Times resident;                  ///< one call; frames and result in the device's memory
  Times streaming;                 ///< one frame pushed, in the device's memory
  Times end_to_end;                ///< one call; frames and result in host memory (pinned, for a GPU)
  double scene_aae = 0;            ///< degrees; mean over the scene's calls
  std::optional<double> data_aae;  ///< degrees; of the real pair
  std::size_t workspace_bytes = 0;
};

/// yosemite/noclouds yos08-09 below `folder`. Throws like read_frame and read_flow.
BenchPair read_yosemite(const std::string& folder);

Measurement measure_case(const Case& one, const Scene& scene, const BenchPair* data, const Repeats& repeats);

/// Execution time and accuracy in one number (Marzat section 4): microseconds a pixel times degrees.
double etato(const Times& resident, Size size, double aae);

Json bench_json(const Case& one, const Measurement& measured, const BenchPair* data);
std::string bench_header(const BenchPair* data);
std::string bench_row(const Case& one, const Measurement& measured);
/// Of what could not be measured.
Json failure_json(const Case& one, const Error& problem);
std::string failure_row(const Case& one, const Error& problem);

}  // namespace parafield::command
