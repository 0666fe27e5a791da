// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/models.hpp"

// Written by scripts/calibrate, which fits these constants to scenes with ground truth.
namespace parafield {

constexpr FlowErrorModel flow_errors_with_back{.floor = 0.000912f,
                                               .residual = 0.00889f,
                                               .spread = 1.24f,
                                               .back = 0.0708f,
                                               .outside = 0.00456f,
                                               .wide = 0.067f,
                                               .odds1 = {.trace = 0,
                                                         .wide = 0.159f,
                                                         .back4 = 0.674f,
                                                         .back36 = 0,
                                                         .motion = 0,
                                                         .not_valid = 0.402f,
                                                         .outside = 0.0105f},
                                               .odds3 = {.trace = 0,
                                                         .wide = 0.0589f,
                                                         .back4 = 0,
                                                         .back36 = 0.0537f,
                                                         .motion = 0,
                                                         .not_valid = 0.215f,
                                                         .outside = 0.00146f}};

constexpr FlowErrorModel flow_errors_without_back{.floor = 0.000934f,
                                                  .residual = 0.0102f,
                                                  .spread = 1.4f,
                                                  .back = 0,
                                                  .outside = 0.00467f,
                                                  .wide = 0.151f,
                                                  .odds1 = {.trace = 0.38f,
                                                            .wide = 0.381f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.00981f,
                                                            .not_valid = 0.919f,
                                                            .outside = 0.00401f},
                                                  .odds3 = {.trace = 0.0106f,
                                                            .wide = 0.105f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.00196f,
                                                            .not_valid = 0.57f,
                                                            .outside = 0.000836f}};

constexpr DisparityErrorModel disparity_errors{
    .floor = 8.76e-07f,
    .texture = 0.00294f,
    .disagreement = 0.187f,
    .not_valid = 0.419f,
    .odds1 = {.doubt = 0.161f,
              .not_valid = 0.314f,
              .step = 0.00035f,
              .disagreement = 1e-07f,
              .curvature = 0.00409f},
    .odds3 = {
        .doubt = 0.0226f, .not_valid = 0.178f, .step = 0.000388f, .disagreement = 0, .curvature = 0.00653f}};

}  // namespace parafield
