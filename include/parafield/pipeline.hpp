// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/video.hpp"

/// Estimation along a video, where reading, computing and writing overlap.
namespace parafield {

struct PipelineOptions {
  int depth = 2;  ///< frames that wait for the estimator, and results that wait for the sink: 1..1000
  std::stop_token stop = {};  ///< ends the run early: see Pipeline::run
};

/// Summary of a pipeline's run. The three stages work at the same time; the slowest one limits the run.
struct PipelineReport {
  std::int64_t frames = 0;   ///< frames that the source has read
  std::int64_t results = 0;  ///< results that the sink has received
  FramesFindings unusable;   ///< of an estimator with the option examine_frames
  bool stopped = false;      ///< whether the stop token ended the run
  double seconds = 0;        ///< duration of the run
  double source = 0;         ///< seconds in the source
  double compute = 0;        ///< seconds in the estimator, including copies to and from the device
  double sink = 0;           ///< seconds in the sink
};

/// A source of frames, an estimator and a sink of results, each on its own thread; the calling thread runs
/// the estimator. Frames and results are in a fixed number of buffers, which are reused.
///
/// On a CUDA device, use an estimator with the option `pipelined`: it uploads the next frame and downloads
/// the previous result while the device works. When no frame is waiting, its last result goes to the sink at
/// once. Frames and results are in pinned memory; frames that the source puts elsewhere are copied there.
///
/// A pipeline, its estimator and its functions belong to one run at a time. Any number of pipelines may run
/// at the same time. Flow and Detection have pipelines.
template <class Task>
class PARAFIELD_API Pipeline {
 public:
  using Result = typename Task::Result;
  /// Reads the next frame into the given buffer, which may hold an older frame. Returns false at the end.
  /// FrameSource::next is such a source.
  using Source = std::function<bool(VideoFrame& frame)>;
  /// Receives a result and the frame that it belongs to: the middle one of the frames that the method takes,
  /// the first of two; for motion detection the newest one. Both belong to the pipeline. The sink may change
  /// the result, or move from it to keep it.
  using Sink = std::function<void(const VideoFrame& frame, Result& result)>;

  /// The estimator must outlive the pipeline. Throws Error(invalid_argument) for a depth outside 1..1000.
  explicit Pipeline(Estimator<Task>& estimator, PipelineOptions options = {});
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Runs to the end of the source. No result spans frames that the source has skipped (VideoFrame::skipped).
  /// After the last result, `finish` is called on the sink's thread, for example to finish a file, unless the
  /// sink itself has failed.
  ///
  /// The first error of a stage, in time, ends the run. All results from before it go to the sink, then the
  /// error is thrown. When the stop token requests a stop, the running estimation is canceled, and the
  /// results that are complete go to the sink. The call returns only after the source has returned: a source
  /// that waits for a camera or a pipe delays it, but does not delay `finish`. Each run starts a new sequence
  /// of the estimator.
  PipelineReport run(const Source& source, const Sink& sink, const std::function<void()>& finish = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parafield
