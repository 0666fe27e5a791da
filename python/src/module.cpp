// SPDX-License-Identifier: MIT
// The extension parafield._core.
#include <nanobind/nanobind.h>
#include <parafield/version.hpp>

NB_MODULE(_core, m) { m.attr("__version__") = parafield::version(); }
