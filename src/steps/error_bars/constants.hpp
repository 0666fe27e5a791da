// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/models.hpp"

// Written by scripts/calibrate, which fits these constants to scenes with ground truth.
namespace parafield {

constexpr FlowErrorModel flow_errors_with_back{
    .floor = 0.0005f,
    .residual = 0.0218f,
    .spread = 2.21f,
    .back = 0.41f,
    .outside = 0.0025f,
    .odds1 = {.trace = 0.074f, .back4 = 0.99f, .back36 = 0, .motion = 0, .not_valid = 0.12f, .outside = 0},
    .odds3 = {.trace = 0,
              .back4 = 0.254f,
              .back36 = 0.0345f,
              .motion = 0,
              .not_valid = 0.142f,
              .outside = 0.0004f}};

constexpr FlowErrorModel flow_errors_without_back{
    .floor = 0.0005f,
    .residual = 0.0286f,
    .spread = 3.0f,
    .back = 0,
    .outside = 0.0025f,
    .odds1 = {.trace = 0.296f, .back4 = 0, .back36 = 0, .motion = 0.025f, .not_valid = 0.306f, .outside = 0},
    .odds3 = {.trace = 0.0444f,
              .back4 = 0,
              .back36 = 0,
              .motion = 0.00667f,
              .not_valid = 0.41f,
              .outside = 0.0004f}};

constexpr DisparityErrorModel disparity_errors{
    .floor = 0.0096f,
    .texture = 0.0049f,
    .disagreement = 0.65f,
    .not_valid = 0.112f,
    .odds1 = {.doubt = 0.0572f,
              .not_valid = 0.259f,
              .step = 0.0005f,
              .disagreement = 0.0925f,
              .curvature = 0.0079f},
    .odds3 = {
        .doubt = 0.0193f, .not_valid = 0.213f, .step = 0.00048f, .disagreement = 0, .curvature = 0.0095f}};

}  // namespace parafield
