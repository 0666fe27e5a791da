// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "gradient/gradient_tensor/model.hpp"
#include "gradient/ridge_regression/model.hpp"

namespace parafield {

/// Smoothed frames in time order, all of one pitch.
template <class Model>
struct FrameWindow {
  View<float> frame[Model::frames];
};

/// Flow of the middle frame, in one step: derivatives, their products, means of the products, solutions.
/// Beyond the border the nearest pixel stands in for derivatives, and the nearest product for means.
/// `newest`: the newest frame as the user gave it, in any format; it is smoothed into the last frame of `in`
/// first. On CUDA it is an input that a replay reads anew. Null = that frame is smoothed already.
template <class Backend, class Model>
void temporal_flow(Backend& backend, const FrameWindow<Model>& in, const Model& model, FlowPlanes out,
                   Trust trust, const Frame* newest = nullptr);

/// Bytes of scratch memory for a thread of the CPU: 5 rows of blended frames, 1 row of derivatives, 3 rows of
/// each product and 1 row of its means, with a margin on both sides.
constexpr int temporal_margin = 16;
inline int temporal_row_floats(int width) { return (width + 2 * temporal_margin + 15) / 16 * 16; }
template <class Model>
std::size_t temporal_scratch(int width) {
  return sizeof(float) * std::size_t(temporal_row_floats(width)) *
         (5 + 1 + 3 * Model::products + Model::products);
}

}  // namespace parafield
