// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>

#include <parafield/error.hpp>
#include <sstream>
#include <string>

namespace parafield::python {

/// Throws Error(invalid_argument), whose text is the concatenation of the parts.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(ErrorCode::invalid_argument, text.str());
}

/// Returns the first line of a Python exception's text, without the type.
std::string message_of(const nanobind::python_error& error);

/// Returns str() of an object. Characters that UTF-8 cannot encode are escaped.
std::string str_text(nanobind::handle object);

/// Return str() and repr() of an object as one line for error messages. Long texts are shortened.
std::string name_text(nanobind::handle object);
std::string repr_text(nanobind::handle object);

/// Reads an argument that is a whole number. Throws Error(invalid_argument) unless it is in least..most.
int read_whole_number(nanobind::handle number, const char* name, int least, int most);

/// Returns the name of an object's type as error messages show it: "list", "torch.Tensor".
std::string type_text(nanobind::handle object);

/// Issue a FramesWarning, PairWarning, RangeWarning or FileWarning for the line of Python code that called
/// the package. Other Python threads may run meanwhile. Throw python_error if the user has turned warnings
/// into exceptions.
void warn_of_frames(const std::string& text);
void warn_of_pair(const std::string& text);
void warn_of_range(const std::string& text);
void warn_of_file(const std::string& text);

}  // namespace parafield::python
