// SPDX-License-Identifier: MIT
#pragma once
#include <dlfcn.h>

#include <string>

#include "core/fail.hpp"

namespace parafield::io {

/// A library that is loaded on first use, because most programs do not need it.
class LoadedLibrary {
 public:
  /// `format` and `package` are for messages: the format that needs the library, and its Debian package.
  LoadedLibrary(const char* name, const char* format, const char* package)
      : library_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (!library_)
      why_not_ = text(format, " files need a library that cannot be loaded: ", ::dlerror(),
                      " (Debian: ", package, ")");
  }
  /// Sets `function` to the library's function of that name.
  template <class Function>
  void find(Function*& function, const char* name) {
    if (!why_not_.empty()) return;
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (!function) why_not_ = text("the library has no ", name);
  }
  /// Throws Error(unsupported) if the library or one of its functions is missing.
  void check() const {
    if (!why_not_.empty()) fail(ErrorCode::unsupported, why_not_);
  }

 private:
  void* library_;
  std::string why_not_;
};

}  // namespace parafield::io
