// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "options.hpp"

/// The command serve: a web page, for this machine alone, on which methods are tried. http.cpp alone
/// includes cpp-httplib; what it answers with comes from the other files of serve.
namespace parafield::command {

struct ServeOptions {
  int port = 8000;      ///< 0: a free one
  int max_size = 200;   ///< MB of a request's files together
  int max_pixels = 16;  ///< millions, of a frame
  bool quiet = false;
  DeviceOptions device;

  std::size_t bytes() const { return std::size_t(max_size) * 1000000; }
  double pixels() const { return max_pixels * 1e6; }
};

/// The page's text. "@nonce@" stands where the security policy's number belongs.
std::string_view serve_page();

/// Listens at 127.0.0.1 until a signal ends the program. Throws Error(unsupported) where the build has no
/// cpp-httplib, and Error(file) for a port that cannot be taken.
void run_server(const ServeOptions& options);

}  // namespace parafield::command
