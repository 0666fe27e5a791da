// SPDX-License-Identifier: MIT
#pragma once

/// Constants of error bars. scripts/calibrate fits them: see constants.hpp.
namespace parafield {

/// Constants of flow's error bars: see flow.hpp. Each is multiplied by the quantity of its name.
struct FlowErrorModel {
  // The covariance.
  float floor;     ///< px^2
  float residual;  ///< covariance of the least-squares solution
  float spread;    ///< covariance of the flow around the pixel
  float back;      ///< squared distance at which the flow back ends
  float outside;   ///< squared length of flow that leaves the frame
  float wide;      ///< squared mean deviation in a wide window
  // The odds that the error is above 1 px, then above 3 px, per px of the mean deviation around.
  struct Odds {
    float trace;      ///< trace of the covariance without `wide`, px^2
    float wide;       ///< as above, px^2
    float back4;      ///< mean of min(squared distance at which the flow back ends, 4 px^2)
    float back36;     ///< the same with 36 px^2
    float motion;     ///< length of the flow times the mean weighted residual, px^3
    float not_valid;  ///< 1 for pixels that are not valid
    float outside;    ///< squared length of flow that leaves the frame, px^2
  } odds1, odds3;
};

/// Constants of the error bars of disparities: see disparity.hpp.
struct DisparityErrorModel {
  // The variance.
  float floor;         ///< px^2
  float texture;       ///< 1 / (mean squared gradient along x + least_texture)
  float disagreement;  ///< mean of min(difference to the right image's disparity, 2 px)
  float not_valid;     ///< 1 for pixels that are not valid
  // The odds that the error is above 1 px, then above 3 px.
  struct Odds {
    float doubt;         ///< 1 / (confidence + 1)^2
    float not_valid;     ///< share of pixels around that are not valid
    float step;          ///< largest squared step of the disparity around a pixel that is not valid, px^2
    float disagreement;  ///< as above, px
    float curvature;     ///< squared difference to the mean disparity around, px^2
  } odds1, odds3;
};

}  // namespace parafield
