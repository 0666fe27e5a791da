// SPDX-License-Identifier: MIT
// Accuracy of guided flow on real sequences.
#include "accuracy.hpp"

namespace parafield {
namespace {

TEST_P(Accuracy, DirectInterpolation) {
  expect(DirectInterpolation{}, {{rubber_whale, 5.74, .176},
                                 {grove2, 3.97, .268},
                                 {venus, 5.32, .349},
                                 {dimetrodon, 3.48, .180},
                                 {whole_street, 10.7, 3.83}});
}

TEST_P(Accuracy, DirectInterpolationWithThePapersParameters) {
  expect(preset<DirectInterpolation>("paper"), {{rubber_whale, 9.6, .313},
                                                {grove2, 5.88, .387},
                                                {venus, 7.87, .551},
                                                {dimetrodon, 4.56, .254},
                                                {whole_street, 15.8, 4.9}});
}

TEST_P(Accuracy, AccurateDirectInterpolation) {
  expect(preset<DirectInterpolation>("accurate"), {{rubber_whale, 4.97, .149},
                                                   {grove2, 3.02, .201},
                                                   {venus, 5.87, .350},
                                                   {dimetrodon, 2.97, .158},
                                                   {whole_street, 7.55, 3.23}});
}

TEST_P(Accuracy, DirectInterpolationOfMatches) {
  const FeatureTracking matches{.features = FeatureChoice::matches, .max_features = 30000};
  const Sequence hard_clean{{"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
                            "sintel/hard/flow_0002.flo"},
      hard_final{{"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
                 "sintel/hard/flow_0002.flo"};
  expect(DirectInterpolation{.tracking = matches, .sigma_position = 4, .median = 5},
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
         {{rubber_whale, 5.2, .163}, {grove2, 3.49, .234}, {venus, 4.7, .319}, {whole_street, 12, 4.13}});
}

TEST_P(Accuracy, MultiHypothesisWithThePapersParameters) {
  expect(preset<MultiHypothesis>("paper"),
         {{rubber_whale, 12.9, .454}, {grove2, 9.8, .738}, {venus, 7.7, .623}});
}

TEST_P(Accuracy, AccurateMultiHypothesis) {
  expect(preset<MultiHypothesis>("accurate"),
         {{rubber_whale, 4.78, .149}, {grove2, 2.77, .190}, {venus, 4.61, .316}});
}

INSTANTIATE_TEST_SUITE_P(Devices, Accuracy, cpu_and_cuda(), accuracy_name);

}  // namespace
}  // namespace parafield
