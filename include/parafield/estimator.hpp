// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parafield/image.hpp"

namespace parafield {

/// Energies that a method reports if it minimizes one (the label methods). Each takes a pass over the pixels.
enum class EnergyReport {
  none,
  result,  ///< the energy of the result
  /// The energies before the first sweep and after each sweep. Belief propagation reports after each
  /// iteration of the finest level. Where it solves blocks, it reports only the result.
  sweeps
};

/// Function that is called with the share of a solve that is done, 0 to 1. The share never falls, and there
/// are at most 50 calls a solve. On the CPU the thread that solves calls it. On CUDA a thread of the driver
/// calls it while the device works; there it must not call CUDA. It must not throw. It is copied and lives as
/// long as the estimator.
using ProgressCallback = std::function<void(double)>;

/// A plan for one task (flow, stereo, motion detection), method, size and device. The constructor checks and
/// allocates. Calls with frames of one kind of memory allocate nothing after the first.
///
/// Threads: any number of estimators may be made, used, moved and destroyed at the same time, each by one
/// thread at a time, beside the program's own CUDA work and its stream captures. No call waits for a whole
/// device or for the legacy stream. Only `cancel` may be called while another thread uses the same estimator.
///
/// Results are where the frames are. For host frames the result is complete, in host memory, when the call
/// returns. For CUDA frames it is in the memory of that device, written asynchronously on the estimator's
/// stream; `synchronize()` waits for it. The estimator owns the result that a call returns. It stands until
/// the next call: copy it with `to()`, or give the call a field to write into.
///
/// Every call throws Error(invalid_argument) for a frame of another size than the estimator's, no data, a
/// pitch smaller than a row, or memory that its device does not read. Nothing has changed then. Some errors
/// show only in the result (multi-hypothesis: more labels than max_labels). The call throws them for host
/// frames, synchronize() for CUDA frames.
template <class Task>
class PARAFIELD_API Estimator {
 public:
  using Method = typename Task::Method;
  using Input = typename Task::Input;
  using Result = typename Task::Result;
  using Options = typename Task::Options;

  /// An estimator of frames of `size`. It runs on the options' device, otherwise on Device::best(). Throws
  /// Error(invalid_argument) for a size below 1x1 or beyond 500000 a side or 2^29 pixels, or a parameter out
  /// of range, Error(device), Error(memory).
  Estimator(Method method, Size size, Options options = {});
  ~Estimator();
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  /// Solves for the result of the frames.
  const Result& operator()(const Input& input);
  const Result& operator()(const In<Frame>& frame0, const In<Frame>& frame1);

  /// Solves and writes into `output`, whose planes have the estimator's size and lie where the frames do.
  /// Planes that `output` lacks are not written. Throws Error(invalid_argument) for other planes.
  void operator()(const Input& input, Result& output);

  /// Takes the next frame of a stream. Returns null until the method has as many as it needs, then the result
  /// of the newest ones. Each frame is converted once. A call of operator() forgets the frames pushed before.
  const Result* push(const In<Frame>& frame) requires Task::streams;
  /// Does the same and writes into `output` as above. Returns whether there is a result.
  bool push(const In<Frame>& frame, Result& output) requires Task::streams;
  void reset();  ///< forgets the frames pushed so far, and a cancellation

  /// Waits for the results of CUDA frames.
  void synchronize();

  /// Makes the running call and all later ones throw Error(cancelled), until `reset()`. It is the only
  /// function that another thread may call meanwhile. On the CPU the running call ends within a step of its
  /// method. On CUDA, work that the device has begun runs to its end first.
  void cancel() noexcept;

  /// The energies that the options asked for, of the last result. Waits for it. Empty where none were asked
  /// for, or the method minimizes none. A method that ended early repeats its last energy.
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
