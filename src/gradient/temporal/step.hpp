#pragma once
#include "core/workspace.hpp"
#include "gradient/gradient_tensor/model.hpp"
#include "gradient/ridge_regression/model.hpp"

namespace parafield {

/// Smoothed frames in time order, all of one pitch.
template <class Model>
struct FrameWindow {
  View<const float> frame[Model::frames];
};

/// The flow of the middle frame, in one step: derivatives, their products, the products' means, solutions. Beyond the
/// border the nearest pixel stands in for the derivatives, and the nearest product for the means.
template <class Backend, class Model>
void temporal_flow(Backend& backend, const FrameWindow<Model>& in, const Model& model, FlowPlanes out,
                   Trust trust);

/// The same with the newest frame as the user gave it (any format; blocks/convert), which becomes `smoothed`, the last of
/// `in`. On CUDA it is an input that a replay reads anew.
template <class Backend, class Model>
void temporal_flow(Backend& backend, const Frame& newest, View<float> smoothed, const FrameWindow<Model>& in,
                   const Model& model, FlowPlanes out, Trust trust);

/// Scratch memory that a thread of the CPU needs, in bytes: rows of blended frames under the derivative of five, of a
/// derivative, of products under the window of three, of means, and room beside them.
constexpr int temporal_margin = 16;
inline int temporal_row_floats(int width) { return (width + 2 * temporal_margin + 15) / 16 * 16; }
template <class Model>
std::size_t temporal_scratch(int width) {
  return sizeof(float) * std::size_t(temporal_row_floats(width)) *
         (5 + 1 + 3 * Model::products + Model::products);
}

}  // namespace parafield
