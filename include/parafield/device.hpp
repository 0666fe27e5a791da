// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "parafield/error.hpp"
#include "parafield/export.hpp"

namespace parafield {

/// The device that an algorithm runs on. If it is missing, its first use throws an Error; there is no silent
/// fallback.
struct PARAFIELD_API Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;    ///< CUDA device index
  int threads = 0;  ///< CPU threads; 0 = one per core

  static Device cpu(int threads = 0) { return {Kind::cpu, 0, threads}; }
  static Device cuda(int index = 0) { return {Kind::cuda, index, 0}; }
  static Device best();  ///< the first usable CUDA device, otherwise the CPU

  bool operator==(const Device&) const = default;
};

/// Name of a device: "cpu" or "cuda:0".
PARAFIELD_API std::string to_string(const Device& device);

/// Returns the device named "auto", "cpu", "cuda" or "cuda:N"; "auto" is the first CUDA device if there is
/// one. `threads` applies to the CPU. Throws Error(invalid_argument) for any other name or negative
/// `threads`.
PARAFIELD_API Device parse_device(const std::string& text, int threads = 0);

/// Facts about a device.
struct DeviceInfo {
  Device device;
  std::string name;  ///< model name, as the processor or GPU reports it
  /// CPU: the instruction set that the active loops are compiled for (v2, v3, v4, baseline). CUDA: the
  /// compute capability.
  std::string instruction_set;
  int threads = 0;         ///< CPU: threads used by default; CUDA: multiprocessors
  std::size_t memory = 0;  ///< memory size, bytes
};

/// All usable devices, the CPU first.
PARAFIELD_API std::vector<DeviceInfo> devices();

/// Facts about one device. Throws Error(device) if it is missing; the message says why.
PARAFIELD_API DeviceInfo describe_device(const Device& device);

/// Initializes a device, which otherwise happens on its first use. On CUDA, the driver and the device's
/// context take 0.1 to 0.3 s, so a program can start them on a separate thread while it reads frames. Throws
/// Error(device) if the device is missing.
PARAFIELD_API void start(const Device& device);

/// Why no CUDA device can be used, for example "built without CUDA" or "no CUDA driver". Empty if one can be
/// used.
PARAFIELD_API std::string why_no_cuda();

/// Where data are stored: in host memory or the memory of a CUDA device.
struct Memory {
  enum class Kind { host, pinned, cuda };  ///< pinned: host memory that the GPU reads directly; needs CUDA
  Kind kind = Kind::host;
  int device = 0;  ///< CUDA device index

  static Memory host() { return {}; }
  static Memory pinned() { return {Kind::pinned, 0}; }
  static Memory cuda(int device = 0) { return {Kind::cuda, device}; }
  bool on_host() const { return kind != Kind::cuda; }

  bool operator==(const Memory&) const = default;
};

/// A CUDA stream that the caller owns. The CPU ignores it.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t; null = the estimator creates its own
};

/// Makes all work submitted to `waiting` from now on start after the work already submitted to `awaited`,
/// without blocking the calling thread. Both must be streams of the device; pass cudaStreamLegacy for the
/// legacy default stream. Does nothing on the CPU. Throws Error(invalid_argument) for a null handle on a CUDA
/// device, Error(device).
PARAFIELD_API void wait_for(const Device& device, Stream waiting, Stream awaited);

/// Measures the time between two points of a device's work: with CUDA events on a stream, or with the
/// system's clock on the CPU.
class PARAFIELD_API Timer {
 public:
  explicit Timer(const Device& device, Stream stream = {});
  ~Timer();
  Timer(Timer&&) noexcept;
  Timer& operator=(Timer&&) noexcept;

  void start();
  double stop();  ///< milliseconds since start(); waits for the device

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
