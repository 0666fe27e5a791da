#pragma once
#include "common/study.hpp"

/// What Marzat, Dumortier and Ducrot measured of their Lucas-Kanade (2009), measured of this one.
namespace parafield::bench {

constexpr Size vga = {640, 480}, yosemite = {316, 252};

/// Fig. 3(a) and 3(b), and the levels of section 2.4: errors over one parameter, the others at their defaults.
std::vector<Table> accuracy_tables(const Study& study);

/// Section 2.3: pushed frames with and without the last pair's flow as a start.
std::vector<Table> temporal_tables(const Study& study);

/// Table 1: execution time and accuracy in one number.
Table trade_off_table(const Study& study);

/// Fig. 7: the time of each step.
Table step_table(const Study& study);

/// Section 4: the speed-up over one serial CPU thread.
Table speed_up_table(const Study& study);

}  // namespace parafield::bench
