// SPDX-License-Identifier: MIT
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "parafield/error.hpp"
#include "parafield/export.hpp"

namespace parafield {

/// The device that an algorithm runs on. If it is missing, its first use throws an Error: there is no silent
/// fallback.
struct PARAFIELD_API Device {
  enum class Kind { cpu, cuda };
  Kind kind = Kind::cpu;
  int index = 0;    ///< CUDA device index
  int threads = 0;  ///< CPU threads; 0 = one for each core

  static Device cpu(int threads = 0) { return {Kind::cpu, 0, threads}; }
  static Device cuda(int index = 0) { return {Kind::cuda, index, 0}; }
  static Device best();  ///< the first usable CUDA device, otherwise the CPU

  bool operator==(const Device&) const = default;
};

/// Name of a device: "cpu" or "cuda:0".
PARAFIELD_API std::string to_string(const Device& device);

/// The device with a name: "auto", "cpu", "cuda" or "cuda:N". The CPU gets `threads`. Throws
/// Error(invalid_argument) for other text.
PARAFIELD_API Device parse_device(const std::string& text, int threads = 0);

/// Facts about a device.
struct DeviceInfo {
  Device device;
  std::string name;  ///< the name that the processor or the GPU gives itself
  /// CPU: the instruction set that the loops in use are compiled for (v2, v3, v4, baseline). CUDA: the
  /// compute capability.
  std::string instruction_set;
  int threads = 0;         ///< CPU: threads used by default; CUDA: multiprocessors
  std::size_t memory = 0;  ///< size of its memory, bytes
};

/// Every usable device, the CPU first.
PARAFIELD_API std::vector<DeviceInfo> devices();

/// Facts about one device. Throws Error(device) if it is missing; the message says why.
PARAFIELD_API DeviceInfo describe_device(const Device& device);

/// Starts a device, which its first use would do otherwise. On CUDA the driver and the device's context take 0.1 to 0.3
/// s: a program can start them on a thread of its own while it reads frames. Throws Error(device) if it is missing.
PARAFIELD_API void start(const Device& device);

/// The reason why no CUDA device can be used, for example "built without CUDA" or "no CUDA driver". Empty if
/// one can be used.
PARAFIELD_API std::string why_no_cuda();

/// The memory that data lie in: the host's, or that of a CUDA device.
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

/// A CUDA stream that the user owns. The CPU ignores it.
struct Stream {
  void* handle = nullptr;  ///< a cudaStream_t; null = the estimator makes its own
};

/// Makes the work that `waiting` gets from now on begin after the work that `awaited` has so far. Both are
/// streams of the device; cudaStreamLegacy stands for the legacy stream. No thread waits. On the CPU it does
/// nothing. Throws Error(invalid_argument) for a null handle of a CUDA device, Error(device).
PARAFIELD_API void wait_for(const Device& device, Stream waiting, Stream awaited);

/// Measures the time between two points of a device's work: by CUDA events on a stream, or by the clock on
/// the CPU.
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
