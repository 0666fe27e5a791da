#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Which energies a method reports that minimizes one (the label methods): of its result, or before the first and after
/// each sweep; of belief propagation after each iteration of the finest level, or of the result where it solves blocks.
/// Takes a pass over the pixels each.
enum class EnergyReport { none, result, sweeps };

/// Called with the share of a solve's sweeps or messages that is done, up to 1: at most 50 times a solve, never with less
/// than before. On the CPU by the thread that solves; on CUDA by a thread of the driver while the device works, and it must
/// not call CUDA. It must not throw. It is copied, and lives as long as the estimator.
using ProgressCallback = std::function<void(double)>;

/// A plan for one task (flow, stereo, motion detection), method, size and device. The constructor checks and allocates; calls with
/// frames of one kind of memory allocate nothing after the first. Not for use by two threads at once.
///
/// Results are where the frames are. Host frames: the result is complete, in host memory, when the call
/// returns. CUDA frames: the result is in the memory of that device, written asynchronously on the
/// estimator's stream (the user's, if one is given); `synchronize()` waits for it. A result is the
/// estimator's own and stands until its next call: move nothing out of it, copy it with `to()`.
///
/// Every call throws Error(invalid_argument) for a frame of another size than the estimator's, no data, a
/// pitch smaller than a row, or memory that its device does not read; nothing has changed then. What only the result shows (of
/// multi-hypothesis: more labels than max_labels) is thrown by the call for host frames, by synchronize() for CUDA frames.
template <class Task>
class PARAFIELD_API Estimator {
 public:
  using Method = typename Task::Method;
  using Input = typename Task::Input;
  using Result = typename Task::Result;
  using Options = typename Task::Options;

  /// Throws Error(invalid_argument) for a size below 1x1 or beyond 500000 a side or 2^29 pixels, or a parameter
  /// out of range, Error(device), Error(memory).
  Estimator(Method method, Size size, Device device = Device::best(), Stream stream = {},
            Options options = {});
  ~Estimator();
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  const Result& operator()(const Input& input);
  const Result& operator()(const Frame& frame0, const Frame& frame1);

  /// The next frame of a stream: null until the method has as many as it needs, then the result of the newest
  /// ones. Each frame is converted once. A call of operator() forgets the frames pushed before.
  const Result* push(const Frame& frame) requires Task::streams;
  void reset();  ///< forget the frames pushed so far

  void synchronize();

  /// The energies that the options asked for, of the last result; waits for it. Empty where none were asked for, or
  /// the method minimizes none. A method that ended early repeats its last energy.
  std::vector<double> energies();

  const Method& method() const;
  Size size() const;
  Device device() const;
  Stream stream() const;                ///< the CUDA stream that results are written on; empty on the CPU
  std::size_t workspace_bytes() const;  ///< memory of the device that the estimator holds

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
