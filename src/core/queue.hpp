// SPDX-License-Identifier: MIT
#pragma once

namespace parafield {

/// What a backend does in order. Queues work at the same time; on the CPU there is one.
enum class Queue {
  solves,     ///< everything but the others: the estimator's stream
  uploads,    ///< copies of frames to the device
  downloads,  ///< copies of results from the device
};

}  // namespace parafield
