// SPDX-License-Identifier: MIT
#pragma once
#include "core/views.hpp"
#include "steps/colors/colors.hpp"
#include "steps/copy/copy.cuh"

/// Copies of frames for keep_frames, as parts of kernels.
namespace parafield {

/// How to copy a frame, and the description of the copy.
struct FrameCopy {
  WordCopy copy;
  Frame kept;
};

inline FrameCopy frame_copy(const Frame& frame, View<std::uint8_t> bytes) {
  const Frame kept = kept_frame(frame, bytes);
  return {word_copy({static_cast<const char*>(frame.data), reinterpret_cast<char*>(bytes.data), frame.pitch,
                     kept.pitch, row_bytes(frame), frame.height}),
          kept};
}

/// Copies a block's part of a frame; one of the `blocks` blocks also writes the description.
__device__ inline void keep_frame(const FrameCopy& frame, Frame* description, int block, int blocks) {
  copy_rows(frame.copy, block, blocks);
  if (block == 0 && threadIdx.x == 0) *description = frame.kept;
}

}  // namespace parafield
