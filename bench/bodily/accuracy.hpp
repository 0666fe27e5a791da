// SPDX-License-Identifier: MIT
#pragma once
#include "bodily/study.hpp"

namespace parafield::bench {

/// Errors of each method, frame and region: section 5.2.
Table accuracy_table(const Study& study);

/// AAE in degrees on the ground of Yosemite's yos09, further from the border than the method's reach; on a
/// rendered sequence if the real one is missing.
double thesis_error(const Study& study, const ThesisMethod& thesis);

}  // namespace parafield::bench
