// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "gradient/gradient_tensor/model.hpp"
#include "gradient/ridge_regression/model.hpp"

namespace parafield {

/// Smoothed frames in time order, all with the same pitch.
template <class Model>
struct FrameWindow {
  View<float> frame[Model::frames];
};

/// Flow of the middle frame, in one step: derivatives, their products, means of the products, solutions.
/// Beyond the border, derivatives use the nearest pixel, and means the nearest product. `newest`: the newest
/// frame as the user gave it, in any format. It is first smoothed into the last frame of `in`. On CUDA it is
/// a graph input, which each replay reads anew. Null = that frame is already smoothed.
template <class Backend, class Model>
void temporal_flow(Backend& backend, const FrameWindow<Model>& in, const Model& model, FlowPlanes out,
                   Trust trust, const Frame* newest = nullptr);

/// Bytes of scratch memory for each CPU thread: 5 rows of blended frames, 1 row of derivatives, and for each
/// product 3 rows and 1 row of means, with a margin on both sides of each row.
constexpr int temporal_margin = 16;
inline int temporal_row_floats(int width) { return (width + 2 * temporal_margin + 15) / 16 * 16; }
template <class Model>
std::size_t temporal_scratch(int width) {
  return sizeof(float) * std::size_t(temporal_row_floats(width)) *
         (5 + 1 + 3 * Model::products + Model::products);
}

}  // namespace parafield
