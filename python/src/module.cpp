// SPDX-License-Identifier: MIT
#include <nanobind/nanobind.h>

#include <parafield/version.hpp>

namespace nb = nanobind;

namespace parafield::python {

void bind_errors(nb::module_& module);       // Error and the warnings
void bind_methods(nb::module_& module);      // a class for each method, in modules flow, stereo, detection
void bind_fields(nb::module_& module);       // FlowField, DisparityField, MotionMask
void bind_tracks(nb::module_& module);       // find_tracks, CameraRotation
void bind_functions(nb::module_& module);    // estimate_flow, estimate_disparity, detect_motion, clear_cache
void bind_examination(nb::module_& module);  // examine_pair
void bind_estimators(nb::module_& module);   // FlowEstimator, StereoEstimator, MotionDetector
void bind_cameras(nb::module_& module);      // calibrated cameras, plan_rectification
void bind_rectification(nb::module_& module);  // rectify, Rectifier, measure_row_alignment, check_pair
void bind_heights(nb::module_& module);        // points_of, height_of, HeightFilter
void bind_masks(nb::module_& module);          // find_range, known_pixels, filled, mark_unknown, find_boxes
void bind_files(nb::module_& module);          // readers and writers
void bind_pictures(nb::module_& module);       // color_flow, draw_arrows and others
void bind_tools(nb::module_& module);          // evaluate, render_scene, depth_of, pinned_empty, devices

}  // namespace parafield::python

NB_MODULE(_core, module) {
  using namespace parafield::python;
  nb::set_leak_warnings(false);  // a program may end while results are still alive
  module.doc() = "The compiled part of parafield. `import parafield` has all of it.";
  module.attr("__version__") = parafield::version();
  bind_errors(module);
  bind_methods(module);
  bind_fields(module);
  bind_tracks(module);
  bind_functions(module);
  bind_examination(module);
  bind_estimators(module);
  bind_cameras(module);
  bind_rectification(module);
  bind_heights(module);
  bind_masks(module);
  bind_files(module);
  bind_pictures(module);
  bind_tools(module);
}
