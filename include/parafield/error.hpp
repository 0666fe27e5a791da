#pragma once
#include <stdexcept>
#include <string>

#include "parafield/export.hpp"

namespace parafield {

enum class ErrorCode {
  invalid_argument,  ///< a value, size or parameter that cannot be used
  format,            ///< a file whose content is damaged or of the wrong kind
  unsupported,       ///< a format or feature that this build or machine lacks
  file,              ///< a file that cannot be opened, read or written
  device,            ///< a device that is missing or failed
  memory             ///< more memory than there is
};

/// The only exception that the library throws. `what()` is one line: what was wrong, with the numbers, and
/// what would be right. Thrown where a value enters: constructors, readers, estimator calls.
class PARAFIELD_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace parafield
