// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parafield/background.hpp"
#include "parafield/fields.hpp"

namespace parafield {

struct PairFindings;  // stereo.hpp

/// Which energies an estimator reports. Only the label methods minimize an energy; other methods report none.
/// Each reported energy takes one more pass over the pixels.
enum class EnergyReport {
  none,
  result,  ///< the energy of the result
  /// The energies before the first sweep and after each sweep. Belief propagation reports after each
  /// iteration of the finest level, or only the energy of the result if it solves the image in blocks.
  sweeps
};
constexpr std::array<std::string_view, 3> names_of(EnergyReport) { return {"none", "result", "sweeps"}; }

/// What an estimator with the option `examine_frames` found in the frames of a result.
enum class FramesState {
  unknown,     ///< not examined: one frame, frames smaller than 16 px, or in the memory of a device
  usable,      ///< the frames show the same texture
  no_texture,  ///< the frames show nothing, such as black frames, or unrelated noise
  cut          ///< the frames show different scenes
};
constexpr std::array<std::string_view, 4> names_of(FramesState) {
  return {"unknown", "usable", "no texture", "cut"};
}

/// Compares each frame in host memory with the previous frame. A cut or frames without texture count more
/// than usable ones. Throws Error(invalid_argument) for frames that an estimator refuses.
PARAFIELD_API FramesState examine_frames(std::span<const Frame> frames);

/// What is wrong with the frames, for a note to the user; empty if nothing is known to be wrong.
PARAFIELD_API std::string text_of(FramesState state);

/// Results whose frames are not usable.
struct PARAFIELD_API FramesFindings {
  std::vector<std::int64_t> cuts;  ///< results with a cut between their frames, by the numbers given to add()
  std::int64_t without_texture = 0;  ///< number of results of frames without texture

  void add(FramesState state, std::int64_t number);  ///< counts result `number`
};

/// Returns the state of a result's frames if it makes the result of the task unreliable, otherwise
/// `unknown`: a cut counts for flow and masks, missing texture for flow and disparities. If it counts, marks
/// all pixels of the result, which is in host memory, as not valid, unless the option min_confidence is 0;
/// error bars become huge (sigma 1e6 px), and the probabilities of errors 1. At a cut, no pixel of a mask
/// moves. Task: Flow, Stereo or Detection.
template <class Task>
PARAFIELD_API FramesState withhold(typename Task::Result& result, FramesState state,
                                   const typename Task::Options& options);

/// Blocks of the image that a method solves in turn. Belief propagation saves memory with several.
struct SolvedBlocks {
  int count = 1;
  Size size = {};        ///< size of each block, margins included, px
  int margin = 0;        ///< width of the margin that is solved with each block and then dropped, px
  bool seamless = true;  ///< whether the margins are wide enough for the same bits as a solve in one block
};

/// Progress callback; receives the completed fraction of a solve, 0 to 1. The fraction never falls, and a
/// solve makes at most 50 calls. On the CPU the solving thread makes them. On CUDA a thread of the driver
/// makes them while the device works; therefore the callback must not call CUDA. It must not throw. The
/// estimator keeps a copy.
using ProgressCallback = std::function<void(double)>;

/// Solves one task (flow, stereo, motion detection) by one method, for frames of one size, on one device.
/// Call it with the frames of one result, or push the frames of a sequence:
///
///     FlowEstimator estimator(AdaptiveRidge{}, {640, 480}, {.device = Device::cpu()});
///     for (const FrameBuffer& frame : frames)
///       if (const FlowField* flow = estimator.push(frame)) use(*flow);
///
/// The constructor checks the arguments and allocates. After the first result, calls allocate nothing as long
/// as frames stay in the same kind of memory (pageable, pinned, a device's).
///
/// Threads: different threads may use different estimators at the same time. One estimator may be used by
/// only one thread at a time, except for `cancel`. The program may do CUDA work and stream captures of its
/// own meanwhile. No call waits for a whole device or for the legacy stream, with one exception: the CUDA
/// driver may wait for the device when it needs more memory for graphs. This can happen in the first calls of
/// an estimator if more estimators exist than ever before, and when an estimator of AdaptiveRidge with
/// `matches` = automatic is destroyed after many others of different sizes.
///
/// A result is in the same memory as the frames. For host frames it is complete when the call returns. For
/// CUDA frames it is in the memory of their device, and the work is asynchronous: frames must not change
/// until the estimator's stream() has read them, and synchronize() waits for the result. The estimator owns
/// the result that a call returns. It is valid until the next call that solves: copy it with `to()`, or give
/// the call a field to write into.
///
/// Range: 16-bit and float frames that name no range get the one that find_value_range finds in the first of
/// them: the frames of a call or the first pushed frame. All later frames get it, too, until reset(). If the
/// first frames are on a device, the call waits for them. 8-bit frames have the range 0..255.
///
/// Errors: every call throws Error(invalid_argument) for a frame of another size than the estimator's,
/// without data, with a pitch smaller than a row, of another depth than the frames that decided the range, or
/// in memory that the estimator's device cannot read. Such a call changes nothing. Only the solve itself
/// finds some errors (multi-hypothesis: more labels than max_labels). With host frames, the call that returns
/// the result throws them; with CUDA frames, synchronize() does.
template <class Task>
class PARAFIELD_API Estimator {
 public:
  using Method = typename Task::Method;
  using Input = typename Task::Input;
  using Result = typename Task::Result;
  using Options = typename Task::Options;

  /// Makes an estimator for frames of `size`, on the device that the options name, or on Device::best() if
  /// they name none. Throws Error(invalid_argument) if a side is below 1 or above 500000, if there are more
  /// than 2^29 pixels, or if a parameter is out of range; Error(device) if the device cannot be used;
  /// Error(memory) if memory runs out.
  Estimator(Method method, Size size, Options options = {});
  ~Estimator();
  /// A moved-from estimator can only be assigned to or destroyed.
  Estimator(Estimator&&) noexcept;
  Estimator& operator=(Estimator&&) noexcept;

  /// Solves for the result of the frames.
  const Result& operator()(const Input& input);
  const Result& operator()(const In<Frame>& frame0, const In<Frame>& frame1);

  /// Solves and writes into `output`. The planes of `output` must have the estimator's size and be in the
  /// frames' memory (host memory may be pinned), otherwise the call throws Error(invalid_argument). Planes
  /// that `output` lacks are not written.
  void operator()(const Input& input, Result& output);

  /// Adds the next frame of a sequence. Returns null until enough frames have arrived; from then on it
  /// returns the result of the newest frames (see frames_of for the frame that it belongs to). Each frame is
  /// converted once. A call of operator() starts a new sequence.
  ///
  /// With the option `pipelined`, each call returns the result that the previous call would have returned
  /// without it, and finish() returns the last one. A GPU can then work on one frame while the next is
  /// uploaded and the previous result is downloaded, at the price of one frame of latency. Results are the
  /// same. The call returns when a host frame has been read and the returned result is complete. Copies
  /// overlap only from and to pinned memory (Memory::pinned()). On the CPU, and for frames in a device's
  /// memory, nothing is gained.
  const Result* push(const In<Frame>& frame) requires Task::streams;
  /// Does the same, but writes into `output` as operator() does. Returns whether there is a result. With the
  /// option `pipelined`, `output` is complete only when the next push() or finish() returns: until then it
  /// must not be destroyed, moved or used again. The call returns whether the previous call's output is
  /// complete now. Do not alternate with the form without `output`.
  bool push(const In<Frame>& frame, Result& output) requires Task::streams;
  /// Returns the last result of a pipelined estimator, after waiting for it: a pointer to the output that
  /// push() was given, or else the estimator's own result, which is valid until the next call. Returns null
  /// if no result is pending. More frames of the sequence may follow; the next push() then returns null.
  /// reset(), a call of operator() and the destructor drop a pending result; its output can be used again
  /// afterwards.
  const Result* finish() requires Task::streams;

  /// Adds the next pair of a stereo camera's video, left and right, and returns its result. It equals the
  /// result of operator() if the method's noise is 0. With noise > 0 (see StereoEnergy), frames are averaged
  /// with those pushed before. A call of operator() starts a new sequence.
  const Result& push(const In<Frame>& left, const In<Frame>& right) requires Task::pairs;
  /// Does the same, but writes into `output` as operator() does.
  void push(const In<Frame>& left, const In<Frame>& right, Result& output) requires Task::pairs;
  /// Examines a pair as examine_pair() does, and returns what it found. If the method's `disparities` is 0,
  /// the pair decides the number. It is the largest number that an examined pair needs; blank pairs count
  /// only as long as all pairs are blank. A call that solves first examines its own pair unless a pair that
  /// is not blank was examined before. If the number changes, the next pushed pair starts a new sequence.
  const PairFindings& examine(const In<Frame>& left, const In<Frame>& right) requires Task::pairs;
  void reset();  ///< forgets the frames pushed so far, and a cancellation

  /// Waits until results of CUDA frames are complete. Throws the errors that only the solve itself finds.
  void synchronize();

  /// Makes the running call and all later ones throw Error(cancelled), until `reset()`. It is the only
  /// function that another thread may call while the estimator is in use. On the CPU the running call ends
  /// within a step of its method. On CUDA, work that the device has begun runs to its end first.
  void cancel() noexcept;

  /// The energies of the newest solve, as the options asked for them. Waits for the solve. Empty if the
  /// options asked for none, or if the method minimizes none. If a method stops early, its last energy is
  /// repeated for the remaining sweeps.
  std::vector<double> energies();

  /// What the last returned result's frames showed. `unknown` without the option `examine_frames`.
  FramesState frames_state() const;

  /// Returns what the method has learned from the frames so far, for the option `background` of another
  /// detector. Waits for the newest solve. Throws Error(unsupported) if the method learns no background, and
  /// Error(invalid_argument) if there has been no result since the start or reset().
  LearnedBackground background() requires Task::learns;

  /// Makes a zero-filled field of the estimator's size, with the planes that results have, to use as
  /// `output`.
  Result new_result(Memory memory = {}) const;
  const Method& method() const;
  const Options& options() const;  ///< as given to the constructor
  Size size() const;
  Device device() const;
  /// The blocks that the method solves. One block if stereo has not found its number of disparities yet.
  SolvedBlocks blocks() const;
  Stream stream() const;  ///< the CUDA stream that results are written on; empty on the CPU
  /// The range that was found in the first 16-bit or float frames that named none, see Frame::range. It holds
  /// until reset(). {0, 0} if there were no such frames.
  ValueRange range() const;
  std::size_t workspace_bytes() const;  ///< memory of the device that the estimator holds

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
