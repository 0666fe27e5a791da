// SPDX-License-Identifier: MIT
#include <parafield/version.hpp>

#include "cameras.hpp"
#include "found_disparities.hpp"
#include "methods.hpp"
#include "pictures.hpp"
#include "tracks.hpp"

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
