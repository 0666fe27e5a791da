// SPDX-License-Identifier: MIT
// Accuracy of guided flow on real sequences.
#include "accuracy.hpp"

namespace parafield {
namespace {

TEST_P(Accuracy, DirectInterpolation) {
  expect(DirectInterpolation{}, {{rubber_whale, 4.72, .142},
                                 {grove2, 2.99, .198},
                                 {venus, 4.31, .279},
                                 {dimetrodon, 3.03, .159},
                                 {whole_street, 7.4, 3.12}});
}

TEST_P(Accuracy, DirectInterpolationWithThePapersParameters) {
  expect(preset<DirectInterpolation>("paper"), {{rubber_whale, 9.6, .313},
                                                {grove2, 5.88, .387},
                                                {venus, 7.87, .551},
                                                {dimetrodon, 4.56, .254},
                                                {whole_street, 15.8, 4.9}});
}

TEST_P(Accuracy, AccurateDirectInterpolation) {
  expect(preset<DirectInterpolation>("accurate"), {{rubber_whale, 2.83, .0866},
                                                   {grove2, 2.04, .139},
                                                   {venus, 2.67, .186},
                                                   {dimetrodon, 1.85, .0964},
                                                   {whole_street, 6.11, 2.75}});
}

TEST_P(Accuracy, DirectInterpolationOfMatches) {
  const FeatureTracking matches{.features = FeatureChoice::matches, .max_features = 30000};
  const Sequence hard_clean{{"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
                            "sintel/hard/flow_0002.flo"},
      hard_final{{"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
                 "sintel/hard/flow_0002.flo"};
  expect(DirectInterpolation{.tracking = matches, .sigma_position = 4, .resampled = 0},
         {{rubber_whale, 9.9, .24},
          {grove2, 9.9, .31},
          {whole_street, 9.9, .97},
          {hard_clean, 99, 10},
          {hard_final, 99, 8.6}});
}

TEST_P(Accuracy, DirectInterpolationByAffineModels) {
  const FeatureTracking matches{.features = FeatureChoice::matches};
  const Sequence hard_clean{{"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
                            "sintel/hard/flow_0002.flo"},
      hard_final{{"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
                 "sintel/hard/flow_0002.flo"};
  expect(DirectInterpolation{.tracking = matches, .model = MotionModel::affine}, {{rubber_whale, 9.9, .24},
                                                                                  {grove2, 9.9, .30},
                                                                                  {dimetrodon, 9.9, .20},
                                                                                  {venus, 9.9, .47},
                                                                                  {whole_street, 9.9, .90},
                                                                                  {hard_clean, 99, 7.5},
                                                                                  {hard_final, 99, 7.8}});
}

TEST_P(Accuracy, MultiHypothesis) {
  expect(MultiHypothesis{},
         {{rubber_whale, 4.65, .142}, {grove2, 2.93, .204}, {venus, 4.74, .305}, {whole_street, 8.45, 3.03}});
}

TEST_P(Accuracy, MultiHypothesisWithThePapersParameters) {
  expect(preset<MultiHypothesis>("paper"),
         {{rubber_whale, 12.9, .454}, {grove2, 9.8, .738}, {venus, 7.7, .623}});
}

TEST_P(Accuracy, AccurateMultiHypothesis) {
  expect(preset<MultiHypothesis>("accurate"),
         {{rubber_whale, 3.05, .0938}, {grove2, 1.53, .1072}, {venus, 2.96, .193}});
}

INSTANTIATE_TEST_SUITE_P(Devices, Accuracy, cpu_and_cuda(), accuracy_name);

}  // namespace
}  // namespace parafield
