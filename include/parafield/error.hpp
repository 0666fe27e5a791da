// SPDX-License-Identifier: MIT
#pragma once
#include <stdexcept>
#include <string>

#include "parafield/export.hpp"

namespace parafield {

/// Kind of an Error.
enum class ErrorCode {
  invalid_argument,  ///< a value, size or parameter that is not allowed
  format,            ///< a file that is damaged or of the wrong kind
  unsupported,       ///< a format or feature that this build or machine lacks
  file,              ///< a file that cannot be opened, read or written
  device,            ///< a device that is missing or has failed
  memory,            ///< not enough memory
  cancelled          ///< Estimator::cancel ended the call
};

/// The only exception that the library throws. `what()` is a single line that names the parameter, its value
/// and the allowed range. Errors are thrown where a value enters the library: by constructors, readers and
/// estimator calls.
class PARAFIELD_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace parafield
