// SPDX-License-Identifier: MIT
// A field of a struct of parameters that nothing describes is an error of the compiler. Compiled by two
// tests, with and without UNDESCRIBED.
#include "parafield/method.hpp"

namespace parafield {

struct Inner {
  PF_PARAMETER(bool, fast, false, "Hurry.");
  PF_PARAMETER(float, weight, 1, range(0, 10), "Weight of the data.");
#ifdef UNDESCRIBED
  float forgotten = 1;
#endif
};

template <class Part>
struct Outer {
  static constexpr std::string_view name = "outer";

  PF_PARAMETERS_OF(Part, part, .weight = 2);
  PF_PARAMETER(int, window, 3, odd(1, 9, "px"), "Side of the window.");
  PF_FIELD(std::string, label, {});
};

void check_it(const Outer<Inner>& method) { check(method); }

}  // namespace parafield
