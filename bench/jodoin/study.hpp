// SPDX-License-Identifier: MIT
#pragma once
#include "common/study.hpp"

/// Study of label fields: the measurements of Jodoin, Mignotte and St-Amour (2005), repeated with this
/// library, and its energies and errors.
namespace parafield::bench {

/// Speed-up over one serial CPU thread (fig. 2): motion detection, displacement estimation and stereo.
std::vector<Table> speed_tables(const Study& study);

/// Times beside their targets and counted floors.
Table target_table(const Study& study);

/// Energies and errors of the solvers, first with one energy for all, then with one chosen for each; motion
/// detection.
std::vector<Table> quality_tables(const Study& study);

/// Draws the label fields of each solver on rendered scenes: fig. 1.
void draw_label_fields(const Study& study);

}  // namespace parafield::bench
