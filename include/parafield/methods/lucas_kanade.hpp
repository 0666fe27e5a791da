#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Dense pyramidal iterative Lucas-Kanade flow of two frames (Marzat, Dumortier, Ducrot: Real-time dense and
/// accurate parallel optical flow using CUDA, sections 2.1 to 2.4). The flow of a pixel minimizes the
/// regularized squared brightness difference over a window around it (eq. 5), from the coarsest level of a
/// gaussian pyramid to the finest, several times a level; each pixel of the window is linearized at its own
/// flow. Defaults are the paper's, with its best window.
struct LucasKanade {
  static constexpr std::string_view name = "lucas-kanade";
  static constexpr std::string_view source = "Marzat, Dumortier, Ducrot 2009, sections 2.1-2.4, eq. 5";
  static constexpr int frames = 2;

  int levels = 4;
  int window = 11;
  int iterations = 3;
  float alpha = 1e-6f;
  float presmooth = 0;
  float robust = 0;
  int median = 0;
  bool temporal = true;
  float min_eigenvalue = 1e-5f;
  float max_residual = 0.1f;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, LucasKanade>
void describe(Method& method, Visitor&& visit) {
  static constexpr std::array medians{0, 3, 5};
  visit(method.levels,
        Parameter<int>{"levels", 1, 16, "",
                       "pyramid levels; a level whose shorter side would be under 4 px is left out"});
  visit(method.window,
        Parameter<int>{"window", 1, 31, "px",
                       "side of the square window; an even one reaches one pixel further to the "
                       "left and up; at the border the nearest pixel stands in"});
  visit(method.iterations,
        Parameter<int>{"iterations", 1, 100, "", "solutions on each level, each warped by the last"});
  visit(method.alpha,
        Parameter<float>{"alpha", 1e-9f, 1, "",
                         "regularization of eq. 5; intensities in [0, 1], sums over the window as means"});
  visit(method.presmooth,
        Parameter<float>{
            "presmooth", 0, 5, "px",
            "sigma of a gaussian over both frames; 0 = none; a NaN pixel spreads to its radius, 2.5 sigma"});
  visit(method.robust,
        Parameter<float>{"robust", 0, 1, "",
                         "weight 1 / (1 + (e / robust)^2) of a pixel whose brightness differs by e, "
                         "intensities in [0, 1]; 0 = every pixel has weight 1"});
  visit(method.median, Parameter<int>{"median", 0, 5, "px",
                                      "side of a median of the flow after each solution; 0 = none", medians});
  visit(method.temporal,
        Parameter<bool>{"temporal", false, true, "",
                        "start from the last pair's flow when frames are pushed (section 2.3)"});
  visit(method.min_eigenvalue,
        Parameter<float>{
            "min_eigenvalue", 0, 1, "",
            "flow is valid where the smaller eigenvalue of the window's mean gradient tensor is at least "
            "this (intensities in [0, 1]) and the match lies inside the second frame"});
  visit(
      method.max_residual,
      Parameter<float>{
          "max_residual", 0, 1, "",
          "flow is valid where, besides, the brightness at the match differs by at most this (intensities in "
          "[0, 1])"});
}

inline std::array<Preset<LucasKanade>, 2> presets(const LucasKanade&) {
  return {{{"paper", LucasKanade{}, "the paper's parameters"},
           {"accurate",
            {.levels = 5, .iterations = 9, .alpha = 1e-5f, .presmooth = 0.5f, .robust = 0.02f, .median = 5},
            "lower error at several times the cost"}}};
}

}  // namespace parafield
