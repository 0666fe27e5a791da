#pragma once
#include <memory>
#include <string>
#include <vector>

#include "parafield/error.hpp"
#include "parafield/export.hpp"

namespace parafield {

/// Where an algorithm runs. A value; an explicit device that is missing is an Error where it is used, never a
/// silent fallback.
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

/// "cpu" or "cuda:0".
PARAFIELD_API std::string to_string(const Device& device);

/// "auto", "cpu", "cuda" or "cuda:N"; `threads` is used for the CPU. Throws Error(invalid_argument).
PARAFIELD_API Device parse_device(const std::string& text, int threads = 0);

struct DeviceInfo {
  Device device;
  std::string name;             ///< processor's or card's own name
  std::string instruction_set;  ///< CPU: the build of the loops in use (v2, v3, v4, baseline); CUDA: compute
                                ///< capability
  int threads = 0;              ///< CPU: threads used by default; CUDA: multiprocessors
  std::size_t memory = 0;       ///< bytes
};

/// Every usable device, the CPU first.
PARAFIELD_API std::vector<DeviceInfo> devices();

/// Facts about one device. Throws Error(device) when it is missing, saying why.
PARAFIELD_API DeviceInfo describe_device(const Device& device);

/// Why no CUDA device can be used ("built without CUDA", "no CUDA driver", ...); empty where one can.
PARAFIELD_API std::string why_no_cuda();

/// Where bytes lie.
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

/// A CUDA stream that the user owns (a cudaStream_t); empty = the estimator makes its own. Ignored on the
/// CPU.
struct Stream {
  void* handle = nullptr;
};

/// Time that a device spends between two points of a stream: CUDA events on a GPU, the clock on the CPU.
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
