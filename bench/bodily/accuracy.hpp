#pragma once
#include "bodily/study.hpp"

namespace parafield::bench {

/// Section 5.2: errors of each method, frame and region.
Table accuracy_table(const Study& study);

/// AAE in degrees on the ground of Yosemite's yos09, but for the border of the method's reach; without the real sequence,
/// on a rendered one.
double thesis_error(const Study& study, const ThesisMethod& thesis);

}  // namespace parafield::bench
