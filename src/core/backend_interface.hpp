// SPDX-License-Identifier: MIT
#pragma once
#include <compare>

/// Shared by the interfaces of both backends.
namespace parafield {

/// A backend runs the work of one queue in order. Different queues run concurrently; on the CPU there is only
/// one.
enum class Queue {
  solves,     ///< all other work: the estimator's stream
  uploads,    ///< copies of frames to the device
  downloads,  ///< copies of results from the device
};

/// Where a step decides whether other steps run; see a backend's `only_if`.
struct Condition {
  int* value;                     ///< in the backend's memory; not 0: the steps run
  unsigned long long handle = 0;  ///< CUDA: cudaGraphConditionalHandle of the graph's node; 0 = none
};

/// Everything that the steps of a recorded solve depend on: two solves with equal keys launch the same
/// kernels with the same arguments, except for the arguments of Cuda::launch_input.
struct ReplayKey {
  enum class Entry {
    call,  ///< all frames at once
    pair,  ///< the next pair of a stereo video
    frame  ///< the next frame of a sequence
  };

  Entry entry = Entry::call;
  int known_motion = 0;  ///< of a call: the kind of known motion (see SolverBase::take)
  bool start = false;    ///< of a call: a first guess is given
  bool follows = false;  ///< of a pair: it is averaged with the pairs before
  int slot = 0;          ///< of a frame: where the solver keeps it
  bool complete = true;  ///< of a frame: there are enough frames for a result
  bool warm = false;     ///< of a frame: the solve starts from the last result
  bool copies = false;   ///< the steps end with copies of the result on the device

  auto operator<=>(const ReplayKey&) const = default;
};

}  // namespace parafield
