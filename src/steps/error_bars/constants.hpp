// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/models.hpp"

// Written by scripts/calibrate, which fits these constants to scenes with
// ground truth.
namespace parafield {

constexpr FlowErrorModel flow_errors_with_back{
    .floor = 0.000955f,
    .residual = 0.0111f,
    .spread = 1.41f,
    .back = 0.128f,
    .outside = 0.00477f,
    .odds1 = {.trace = 0.172f, .back4 = 0.332f, .back36 = 0, .motion = 0, .not_valid = 0.0128f, .outside = 0},
    .odds3 = {.trace = 0,
              .back4 = 0.0527f,
              .back36 = 0.0753f,
              .motion = 0,
              .not_valid = 0.0571f,
              .outside = 0.0004f}};

constexpr FlowErrorModel flow_errors_without_back{
    .floor = 0.000993f,
    .residual = 0.0186f,
    .spread = 2.44f,
    .back = 0,
    .outside = 0.00497f,
    .odds1 = {.trace = 0.276f, .back4 = 0, .back36 = 0, .motion = 0.0262f, .not_valid = 0.311f, .outside = 0},
    .odds3 = {.trace = 0.0524f,
              .back4 = 0,
              .back36 = 0,
              .motion = 0.00683f,
              .not_valid = 0.351f,
              .outside = 0.0004f}};

constexpr DisparityErrorModel disparity_errors{
    .floor = 2.12e-07f,
    .texture = 0.00318f,
    .disagreement = 0.202f,
    .not_valid = 0.418f,
    .odds1 = {.doubt = 0.157f,
              .not_valid = 0.367f,
              .step = 0.000329f,
              .disagreement = 0.00236f,
              .curvature = 0.00387f},
    .odds3 = {
        .doubt = 0.0323f, .not_valid = 0.205f, .step = 0.000442f, .disagreement = 0, .curvature = 0.00625f}};

}  // namespace parafield
