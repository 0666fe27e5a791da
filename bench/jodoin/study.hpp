#pragma once
#include "common/study.hpp"

/// What Jodoin, Mignotte and St-Amour measured of their label fields (2005), measured of these, and how good they are.
namespace parafield::bench {

/// Fig. 2: speed-up over one serial CPU thread, each for motion detection, displacement estimation and stereo.
std::vector<Table> speed_tables(const Study& study);

/// Times beside what was asked for and beside counted floors.
Table target_table(const Study& study);

/// Energies and errors of the solvers: one energy for all, then one chosen for each; motion detection.
std::vector<Table> quality_tables(const Study& study);

/// Fig. 1, on rendered scenes: label fields by each solver as PNGs in `folder`.
void draw_label_fields(const Study& study, const std::filesystem::path& folder);

}  // namespace parafield::bench
