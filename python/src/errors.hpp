// SPDX-License-Identifier: MIT
#pragma once
#include <nanobind/nanobind.h>
#include <parafield/error.hpp>

#include <sstream>
#include <string>

namespace parafield::python {

/// Throws Error(invalid_argument) with the parts as its text.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw Error(ErrorCode::invalid_argument, text.str());
}

/// First line of an exception of Python, without its type.
std::string message_of(const nanobind::python_error& error);

/// str() of an object. Characters that UTF-8 does not have are escaped.
std::string str_text(nanobind::handle object);

/// str() and repr() of an object in one line for messages. Long ones are cut.
std::string name_text(nanobind::handle object);
std::string repr_text(nanobind::handle object);

/// A whole number of an argument. Throws Error(invalid_argument) for one outside least..most.
int read_whole_number(nanobind::handle number, const char* name, int least, int most);

/// Name of an object's type, as messages show it: "list", "torch.Tensor".
std::string type_text(nanobind::handle object);

/// Give a PairWarning or a RangeWarning, at the line of Python that calls the package. Other threads may run
/// meanwhile. Throw python_error where warnings are exceptions.
void warn_of_pair(const std::string& text);
void warn_of_range(const std::string& text);

/// Makes the exception `Error` and the classes of warnings, and lets the library's errors be thrown as it.
void bind_errors(nanobind::module_& module);

}  // namespace parafield::python
