// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

#include "options.hpp"

/// The command serve: a web page, reachable only from this machine, on which users try methods. Only http.cpp
/// includes cpp-httplib; the other files of serve produce the content of the answers.
namespace parafield::command {

struct ServeOptions {
  int port = 8000;      ///< 0: any free port
  int max_size = 200;   ///< MB, all files of a request together
  int max_pixels = 16;  ///< millions of pixels of a frame
  bool quiet = false;
  DeviceOptions device;

  std::size_t bytes() const { return std::size_t(max_size) * 1000000; }
  double pixels() const { return max_pixels * 1e6; }
};

/// Returns the text of the page. "@nonce@" marks the places for the nonce of the content security policy.
std::string_view serve_page();

/// Listens at 127.0.0.1 until a signal ends the program. Throws Error(unsupported) if the build lacks
/// cpp-httplib, and Error(file) if the port is unavailable.
void run_server(const ServeOptions& options);

}  // namespace parafield::command
