// SPDX-License-Identifier: MIT
#pragma once
#include "common/study.hpp"

namespace parafield::bench {

/// A method of the thesis as the library has it.
struct ThesisMethod {
  std::string name;   ///< as in table 5.1
  FlowMethod method;  ///< its defaults are the thesis's
  int reach;          ///< px from the border up to which its windows cross the border
};
std::vector<ThesisMethod> thesis_methods();

/// Errors of each method, frame and region: section 5.2.
Table accuracy_table(const Study& study);

/// AAE in degrees on the ground of Yosemite's yos09, further from the border than the method's reach; on a
/// rendered sequence if the real one is missing.
double thesis_error(const Study& study, const ThesisMethod& thesis);

}  // namespace parafield::bench
