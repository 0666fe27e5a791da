// SPDX-License-Identifier: MIT
// Accuracy of the gradient methods on real sequences.
#include "accuracy.hpp"

namespace parafield {
namespace {

const Sequence five_of_grove2 = {
    {"middlebury-flow/Grove2/gray/frame08.png", "middlebury-flow/Grove2/gray/frame09.png",
     "middlebury-flow/Grove2/gray/frame10.png", "middlebury-flow/Grove2/gray/frame11.png",
     "middlebury-flow/Grove2/gray/frame12.png"},
    "middlebury-flow/Grove2/flow10.flo"};
const Sequence five_of_rubber_whale = {
    {"middlebury-flow/RubberWhale/gray/frame08.png", "middlebury-flow/RubberWhale/gray/frame09.png",
     "middlebury-flow/RubberWhale/gray/frame10.png", "middlebury-flow/RubberWhale/gray/frame11.png",
     "middlebury-flow/RubberWhale/gray/frame12.png"},
    "middlebury-flow/RubberWhale/flow10.flo"};
const Sequence five_of_clouds_ground = {
    {"yosemite/clouds/yos07.png", "yosemite/clouds/yos08.png", "yosemite/clouds/yos09.png",
     "yosemite/clouds/yos10.png", "yosemite/clouds/yos11.png"},
    "yosemite/clouds/flow09.flo",
    "yosemite/clouds/mask_ground.png"};
/// Frames with clouds, scored with the truth of the scene without clouds: the ground is the same, and the sky
/// has no truth. Only three frames without clouds exist.
const Sequence five_without_sky = {
    {"yosemite/clouds/yos06.png", "yosemite/clouds/yos07.png", "yosemite/clouds/yos08.png",
     "yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
    "yosemite/noclouds/yos08_nosky.flo"};

TEST_P(Accuracy, AdaptiveRidge) {
  expect(AdaptiveRidge{}, {{rubber_whale, 3.00, .0928},
                           {grove2, 1.63, .1132},
                           {dimetrodon, 1.96, .1052},
                           {venus, 3.29, .221},
                           {no_clouds, 2.41, .1048},
                           {clouds_ground, 1.96, .0942},
                           {street, 2.94, .685}});
}

TEST_P(Accuracy, FastAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("fast"), {{rubber_whale, 4.42, .137},
                                         {grove2, 2.15, .147},
                                         {dimetrodon, 2.66, .147},
                                         {venus, 4.26, .280},
                                         {no_clouds, 2.50, .113},
                                         {clouds_ground, 2.07, .105},
                                         {street, 7.7, 3.6}});
}

TEST_P(Accuracy, FastestAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("fastest"), {{rubber_whale, 5.32, .168},
                                            {grove2, 2.69, .181},
                                            {dimetrodon, 2.86, .160},
                                            {venus, 5.86, .351},
                                            {no_clouds, 2.60, .1145},
                                            {clouds_ground, 2.37, .1143},
                                            {street, 7.60, 3.70}});
}

TEST_P(Accuracy, AccurateAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("accurate"), {{rubber_whale, 2.58, .0793},
                                             {grove2, 1.62, .1111},
                                             {dimetrodon, 1.61, .0828},
                                             {venus, 2.43, .180},
                                             {no_clouds, 2.28, .0935},
                                             {clouds_ground, 1.75, .0807},
                                             {street, 2.52, .584}});
}

TEST_P(Accuracy, PreciseAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("precise"), {{rubber_whale, 2.74, .0843},
                                            {grove2, 1.60, .1102},
                                            {dimetrodon, 1.83, .0964},
                                            {venus, 3.04, .205},
                                            {no_clouds, 2.37, .1001},
                                            {clouds_ground, 1.88, .0886},
                                            {street, 2.54, .614}});
}

/// Motions up to 132 px: the error is below a third of the error without matches. By default, the method
/// finds out by itself that it needs them.
TEST_P(Accuracy, LargeMotion) {
  const Sequence clean = {{"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
                          "sintel/hard/flow_0002.flo"},
                 final = {{"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
                          "sintel/hard/flow_0002.flo"};
  expect(preset<AdaptiveRidge>("large-motion"), {{rubber_whale, 2.86, .0883},
                                                 {grove2, 1.55, .1075},
                                                 {dimetrodon, 1.94, .1029},
                                                 {venus, 3.01, .212},
                                                 {whole_street, 2.75, .664},
                                                 {clean, 8.99, 5.28},
                                                 {final, 11.61, 5.94}});
  expect(AdaptiveRidge{}, {{whole_street, 2.90, .688}, {clean, 8.92, 5.35}, {final, 11.05, 5.88}});
}

TEST_P(Accuracy, AdaptiveRidgeWithFiveFrames) {
  expect(preset<AdaptiveRidge>("sequence"), {{five_of_grove2, 2.05, .139},
                                             {five_of_rubber_whale, 4.28, .134},
                                             {five_of_clouds_ground, 1.56, .085},
                                             {five_without_sky, 2.28, .108}});
}

/// Motion that stops or reverses: more frames are as good as two.
TEST_P(Accuracy, AdaptiveRidgeWithFiveFramesOfUnsteadyMotion) {
  const char *const whale10 = five_of_rubber_whale.frames[2], *const whale11 = five_of_rubber_whale.frames[3],
                    *const ground9 = five_of_clouds_ground.frames[2],
                    *const ground10 = five_of_clouds_ground.frames[3];
  const auto unsteady = [](std::vector<const char*> frames, const Sequence& steady) {
    return Sequence{std::move(frames), steady.truth, steady.mask};
  };
  expect(preset<AdaptiveRidge>("sequence"),
         {{unsteady({whale10, whale10, whale10, whale11, whale11}, five_of_rubber_whale), 4.28, .134},
          {unsteady({whale11, whale10, whale10, whale11, whale10}, five_of_rubber_whale), 4.28, .134},
          {unsteady({ground9, ground9, ground9, ground10, ground10}, five_of_clouds_ground), 2.07, .106},
          {unsteady({ground10, ground9, ground9, ground10, ground9}, five_of_clouds_ground), 2.07, .106}});
}

TEST_P(Accuracy, LucasKanadeWithThePapersParameters) {
  expect(preset<LucasKanade>("paper"), {{rubber_whale, 8.6, .27},
                                        {grove2, 4.3, .30},
                                        {dimetrodon, 3.95, .21},
                                        {venus, 10.5, .60},
                                        {no_clouds, 3.6, .17},
                                        {clouds_ground, 3.1, .16}});
}

TEST_P(Accuracy, LucasKanade) {
  expect(LucasKanade{}, {{rubber_whale, 7.75, .237},
                         {grove2, 3.7, .256},
                         {dimetrodon, 3.67, .195},
                         {venus, 9.4, .54},
                         {no_clouds, 3.2, .141},
                         {clouds_ground, 2.68, .134}});
}

TEST_P(Accuracy, AccurateLucasKanade) {
  expect(preset<LucasKanade>("accurate"), {{rubber_whale, 3.16, .0969},
                                           {grove2, 2.03, .138},
                                           {dimetrodon, 1.79, .0938},
                                           {venus, 4.69, .279},
                                           {no_clouds, 2.43, .1023},
                                           {clouds_ground, 1.89, .0885}});
}

INSTANTIATE_TEST_SUITE_P(Devices, Accuracy, cpu_and_cuda(), accuracy_name);

}  // namespace
}  // namespace parafield
