// SPDX-License-Identifier: MIT
#pragma once

namespace parafield {

/// A backend runs the work of one queue in order. Different queues run concurrently; on the CPU there is only
/// one.
enum class Queue {
  solves,     ///< all other work: the estimator's stream
  uploads,    ///< copies of frames to the device
  downloads,  ///< copies of results from the device
};

}  // namespace parafield
