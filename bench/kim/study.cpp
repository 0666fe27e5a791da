// SPDX-License-Identifier: MIT
// kim_study: the measurements of Kim, Hwangbo and Kanade (2009), repeated with this library.
#include "kim/study.hpp"

int main(int argc, char** argv) {
  using namespace parafield::bench;
#ifndef PARAFIELD_HAS_CUDA
  constexpr auto hybrid_tables = nullptr;
#endif
  return run_study(
      argc, argv,
      {.about = "Kim, Hwangbo, Kanade 2009: thin poles, large motion, times, forms of the votes, "
                "costs; pictures",
       .title = "Kim's study of flow guided by features",
       .parts = {{"pole", pole_tables},
                 {"large", large_tables, true},
                 {"times", time_tables, true},
                 {"forms", form_tables, true},
                 {"exp", exponential_tables, true},
                 {"cost", cost_tables, true},
                 {.name = "hybrid", .tables = hybrid_tables, .timed = true, .takes_cuda = true}},
       .effort = {.seconds = 0.5}});  // the calls are many and short
}
