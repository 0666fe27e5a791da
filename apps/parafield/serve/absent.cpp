// SPDX-License-Identifier: MIT
#include "serve/serve.hpp"

namespace parafield::command {

void run_server(const ServeOptions&) {
  throw Error(
      ErrorCode::unsupported,
      "serve: this build has no cpp-httplib; install it (Debian: libcpp-httplib-dev) and build again");
}

}  // namespace parafield::command
