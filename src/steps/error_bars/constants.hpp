// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/models.hpp"

// Written by scripts/calibrate, which fits these constants to scenes with ground truth.
namespace parafield {

constexpr FlowErrorModel flow_errors_with_back{.floor = 0.000921f,
                                               .residual = 0.00897f,
                                               .spread = 1.25f,
                                               .back = 0.0714f,
                                               .outside = 0.00461f,
                                               .wide = 0.0674f,
                                               .odds1 = {.trace = 0.113f,
                                                         .wide = 0.162f,
                                                         .back4 = 0.315f,
                                                         .back36 = 0,
                                                         .motion = 0,
                                                         .not_valid = 0.021f,
                                                         .outside = 0},
                                               .odds3 = {.trace = 0,
                                                         .wide = 0.0883f,
                                                         .back4 = 1.58e-07f,
                                                         .back36 = 0.0578f,
                                                         .motion = 0,
                                                         .not_valid = 0.0252f,
                                                         .outside = 0.0004f}};

constexpr FlowErrorModel flow_errors_without_back{.floor = 0.000931f,
                                                  .residual = 0.0101f,
                                                  .spread = 1.39f,
                                                  .back = 0,
                                                  .outside = 0.00466f,
                                                  .wide = 0.151f,
                                                  .odds1 = {.trace = 0.146f,
                                                            .wide = 0.42f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.017f,
                                                            .not_valid = 0.187f,
                                                            .outside = 0},
                                                  .odds3 = {.trace = 0.00336f,
                                                            .wide = 0.159f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.00306f,
                                                            .not_valid = 0.267f,
                                                            .outside = 0.0004f}};

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
