// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "parafield/fields.hpp"

namespace parafield {

/// Which energies an estimator reports. Only the label methods minimize an energy; other methods report none.
/// Each reported energy takes one more pass over the pixels.
enum class EnergyReport {
  none,
  result,  ///< the energy of the result
  /// The energies before the first sweep and after each sweep. Belief propagation reports after each
  /// iteration of the finest level. If it solves the image in blocks, it reports only the energy of the
  /// result.
  sweeps
};

/// Blocks of the image that a method solves in turn. Belief propagation saves memory with several.
struct SolvedBlocks {
  int count = 1;
  Size size = {};        ///< of each, margins included, px
  int margin = 0;        ///< around each: solved with it, then dropped, px
  bool seamless = true;  ///< the margins are so wide that the result has the bits of one block
};

/// Progress callback; receives the completed fraction of a solve, 0 to 1. The fraction never falls, and a solve
/// makes at most 50 calls. On the CPU the solving thread makes them. On CUDA a thread of the driver makes them
/// while the device works, so the callback must not call CUDA. It must not throw. The estimator keeps a copy.
using ProgressCallback = std::function<void(double)>;

/// A solver of one task (flow, stereo, motion detection) by one method, for frames of one size, on one
/// device. The constructor checks the arguments and allocates. After the first call, calls allocate nothing
/// if their frames lie in the same kind of memory as its frames.
///
/// Threads: any number of estimators may be made, used, moved and destroyed at the same time, each by one
/// thread at a time, while the program does CUDA work and stream captures of its own. Only `cancel` may be
/// called while another thread uses the same estimator. No call waits for a whole device or for the legacy
/// stream, with one exception: CUDA's driver may wait for the device when it needs more memory for graphs. That
/// can happen when an estimator records a solve and more estimators exist than ever before, and when an
/// estimator of AdaptiveRidge with `matches` = automatic is destroyed after many others of different sizes.
///
/// Results are where the frames are. For host frames the result is complete, in host memory, when the call
/// returns. For CUDA frames it is in the memory of that device, written asynchronously on the estimator's
/// stream; `synchronize()` waits for it. The estimator owns the result that a call returns. It is valid until
/// the next call: copy it with `to()`, or give the call a field to write into.
///
/// Errors: every call throws Error(invalid_argument) for a frame of another size than the estimator's,
/// without data, with a pitch smaller than a row, or in memory that the estimator's device cannot read. Such
/// a call changes nothing. Some errors are found only by the solve itself (multi-hypothesis: more labels than
/// max_labels). The call throws them for host frames, `synchronize()` for CUDA frames.
template <class Task>
class PARAFIELD_API Estimator {
 public:
  using Method = typename Task::Method;
  using Input = typename Task::Input;
  using Result = typename Task::Result;
  using Options = typename Task::Options;

  /// Makes an estimator for frames of `size`, on the device that the options name, or on Device::best() if
  /// they name none. Throws Error(invalid_argument) if a side is below 1 or above 500000, if there are more
  /// than 2^29 pixels, or if a parameter is out of range. Throws Error(device) and Error(memory).
  Estimator(Method method, Size size, Options options = {});
  ~Estimator();
  /// A moved-from estimator can only be assigned to or destroyed.
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  /// Solves for the result of the frames.
  const Result& operator()(const Input& input);
  const Result& operator()(const In<Frame>& frame0, const In<Frame>& frame1);

  /// Solves and writes into `output`. Its planes have the estimator's size and lie where the frames lie; for
  /// other planes it throws Error(invalid_argument). Planes that `output` lacks are not written.
  void operator()(const Input& input, Result& output);

  /// Adds the next frame of a sequence. Returns null until enough frames have arrived; from then on it returns
  /// the result of the newest frames. Each frame is converted once. A call of operator() starts a new sequence.
  ///
  /// If the options say `pipelined`, it returns the result of the previous call instead, or null if that call
  /// had none, and finish() returns the last one: while the device works on the new frame, the next one can be
  /// uploaded and the previous result downloaded. Results are the same as without, one call later. The call
  /// returns when the frame has been read and the returned result is complete. Copies overlap with work on the
  /// device only if frames and outputs are in pinned memory (Memory::pinned()).
  const Result* push(const In<Frame>& frame) requires Task::streams;
  /// Does the same, but writes into `output` as operator() does. Returns whether there is a result. If the
  /// options say `pipelined`, `output` must stay alive until it is complete, when the next call of push() or
  /// finish() returns; this call returns whether the output of the previous call is complete now.
  bool push(const In<Frame>& frame, Result& output) requires Task::streams;
  /// Waits for the result that a pipelined estimator has not returned yet and returns it: the estimator's own,
  /// valid until the next call, or the output that push() was given. Null if there is none. The sequence may go
  /// on afterwards.
  const Result* finish() requires Task::streams;

  /// Adds the next pair of a stereo camera's video, left and right, and returns its result. The result equals
  /// that of operator(), unless the method has noise > 0 (see StereoEnergy): then frames are averaged with the
  /// frames of the pairs pushed before. A call of operator() starts a new sequence.
  const Result& push(const In<Frame>& left, const In<Frame>& right) requires Task::pairs;
  /// Does the same, but writes into `output` as operator() does.
  void push(const In<Frame>& left, const In<Frame>& right, Result& output) requires Task::pairs;
  void reset();  ///< forgets the frames pushed so far, and a cancellation

  /// Waits for the results of CUDA frames. Throws the errors that only the solve itself finds (see above).
  void synchronize();

  /// Makes the running call and all later ones throw Error(cancelled), until `reset()`. It is the only
  /// function that another thread may call while the estimator is in use. On the CPU the running call ends
  /// within a step of its method. On CUDA, work that the device has begun runs to its end first.
  void cancel() noexcept;

  /// The energies of the last result, as the options asked for them. Waits for the result. Empty if the
  /// options asked for none, or if the method minimizes none. If a method ends early, its last energy is
  /// repeated for the sweeps that were left.
  std::vector<double> energies();

  /// A field for results, zero-filled: with the planes that they have, and the estimator's size.
  Result new_result(Memory memory = {}) const;
  const Method& method() const;
  const Options& options() const;  ///< as given to the constructor
  Size size() const;
  Device device() const;
  SolvedBlocks blocks()
      const;              ///< those that the method solves; one before the first pair shows its disparities
  Stream stream() const;  ///< the CUDA stream that results are written on; empty on the CPU
  std::size_t workspace_bytes() const;  ///< memory of the device that the estimator holds

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
