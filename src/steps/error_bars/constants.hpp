// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/models.hpp"

// Written by scripts/calibrate, which fits these constants to scenes with ground truth.
namespace parafield {

constexpr FlowErrorModel flow_errors_with_back{.floor = 0.000923f,
                                               .residual = 0.00889f,
                                               .spread = 1.21f,
                                               .back = 0.0763f,
                                               .outside = 0.00462f,
                                               .wide = 0.0653f,
                                               .odds1 = {.trace = 0.124f,
                                                         .wide = 0.159f,
                                                         .back4 = 0.305f,
                                                         .back36 = 0,
                                                         .motion = 0,
                                                         .not_valid = 0.0192f,
                                                         .outside = 0},
                                               .odds3 = {.trace = 0,
                                                         .wide = 0.0906f,
                                                         .back4 = 1.58e-07f,
                                                         .back36 = 0.0568f,
                                                         .motion = 0,
                                                         .not_valid = 0.0226f,
                                                         .outside = 0.0004f}};

constexpr FlowErrorModel flow_errors_without_back{.floor = 0.000929f,
                                                  .residual = 0.01f,
                                                  .spread = 1.37f,
                                                  .back = 0,
                                                  .outside = 0.00465f,
                                                  .wide = 0.155f,
                                                  .odds1 = {.trace = 0.147f,
                                                            .wide = 0.421f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.0169f,
                                                            .not_valid = 0.194f,
                                                            .outside = 0},
                                                  .odds3 = {.trace = 0.00349f,
                                                            .wide = 0.161f,
                                                            .back4 = 0,
                                                            .back36 = 0,
                                                            .motion = 0.00315f,
                                                            .not_valid = 0.248f,
                                                            .outside = 0.0004f}};

constexpr DisparityErrorModel disparity_errors{
    .floor = 4.35e-07f,
    .texture = 0.00309f,
    .disagreement = 0.193f,
    .not_valid = 0.422f,
    .odds1 = {.doubt = 0.159f,
              .not_valid = 0.315f,
              .step = 0.0003f,
              .disagreement = 1e-07f,
              .curvature = 0.00443f},
    .odds3 = {
        .doubt = 0.0257f, .not_valid = 0.18f, .step = 0.000362f, .disagreement = 0, .curvature = 0.00672f}};

}  // namespace parafield
