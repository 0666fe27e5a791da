// SPDX-License-Identifier: MIT
#pragma once
#include "common/study.hpp"

/// The measurements of Marzat, Dumortier and Ducrot (2009), repeated with this library's Lucas-Kanade.
namespace parafield::bench {

constexpr Size vga = {640, 480}, yosemite = {316, 252};

/// Errors over one parameter, the others at their defaults: Fig. 3(a) and 3(b), and the levels of section
/// 2.4.
std::vector<Table> accuracy_tables(const Study& study);

/// Errors of pushed frames, with and without the last pair's flow as a start: section 2.3.
std::vector<Table> temporal_tables(const Study& study);

/// Execution time and accuracy in one number: table 1.
Table trade_off_table(const Study& study);

/// The time of each step: Fig. 7.
Table step_table(const Study& study);

/// The speed-up over one serial CPU thread: section 4.
Table speed_up_table(const Study& study);

/// Draws figs. 4, 5, 6 and 9 on rendered scenes and, if they are found, on real sequences.
void draw_figures(const Study& study);

}  // namespace parafield::bench
