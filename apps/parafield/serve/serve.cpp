// SPDX-License-Identifier: MIT
#include "serve/serve.hpp"

#include "commands.hpp"

namespace parafield::command {

void add_serve(App& program) {
  auto [command, options] = add_command<ServeOptions>(program, "serve", "Show a web page to try the methods",
                                                      [](const ServeOptions& given) {
                                                        given.device.check();
                                                        run_server(given);
                                                      });
  command.add_setting("--port N", options.port, "port of 127.0.0.1. 0 takes a free one").range(0, 65535);
  command.add_setting("--max-size MB", options.max_size, "largest size of the files of one request, in MB")
      .range(1, 2000);
  command.add_setting("--max-pixels N", options.max_pixels, "most pixels of a frame, in millions")
      .range(1, 500);
  options.device.add_to(command);
  command.add_flag("-q,--quiet", options.quiet, "print only the page's address");
  command.examples({"serve", "serve --port 0 --max-size 200 -d cpu"});
}

}  // namespace parafield::command
