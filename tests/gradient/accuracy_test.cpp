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
/// Frames with clouds and the truth without clouds, which has the same ground and no sky: only three frames
/// are without clouds.
const Sequence five_without_sky = {
    {"yosemite/clouds/yos06.png", "yosemite/clouds/yos07.png", "yosemite/clouds/yos08.png",
     "yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
    "yosemite/noclouds/yos08_nosky.flo"};

TEST_P(Accuracy, AdaptiveRidge) {
  expect(AdaptiveRidge{}, {{rubber_whale, 4.28, .133},
                           {grove2, 2.09, .142},
                           {dimetrodon, 2.64, .146},
                           {venus, 3.96, .264},
                           {no_clouds, 2.50, .114},
                           {clouds_ground, 2.07, .106},
                           {street, 3.6, .76}});
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
  expect(preset<AdaptiveRidge>("fastest"), {{rubber_whale, 5.6, .17},
                                            {grove2, 2.8, .181},
                                            {dimetrodon, 3, .162},
                                            {venus, 6, .355},
                                            {no_clouds, 3, .13},
                                            {clouds_ground, 3, .13},
                                            {street, 10, 4.5}});
}

TEST_P(Accuracy, AccurateAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("accurate"), {{rubber_whale, 3.92, .1225},
                                             {grove2, 1.88, .127},
                                             {dimetrodon, 2.60, .143},
                                             {venus, 3.05, .2205},
                                             {no_clouds, 2.53, .117},
                                             {clouds_ground, 2.0, .1025},
                                             {street, 3.15, .715}});
}

/// Motions to 132 px: not a third of the error without matches. The default finds out by itself.
TEST_P(Accuracy, LargeMotion) {
  const Sequence clean = {{"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
                          "sintel/hard/flow_0002.flo"},
                 final = {{"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
                          "sintel/hard/flow_0002.flo"};
  expect(preset<AdaptiveRidge>("large-motion"), {{rubber_whale, 4.35, .134},
                                                 {grove2, 2.01, .138},
                                                 {dimetrodon, 2.66, .146},
                                                 {venus, 3.95, .265},
                                                 {whole_street, 3.55, .76},
                                                 {clean, 9.45, 5.95},
                                                 {final, 11.9, 6.55}});
  expect(AdaptiveRidge{}, {{whole_street, 3.55, .76}, {clean, 9.45, 5.95}, {final, 11.9, 6.55}});
}

TEST_P(Accuracy, AdaptiveRidgeWithFiveFrames) {
  expect(preset<AdaptiveRidge>("sequence"), {{five_of_grove2, 2.05, .139},
                                             {five_of_rubber_whale, 4.28, .134},
                                             {five_of_clouds_ground, 1.56, .085},
                                             {five_without_sky, 2.28, .108}});
}

/// Frames that stop or turn back: as good as two of them.
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
  expect(preset<LucasKanade>("accurate"), {{rubber_whale, 7.2, .217},
                                           {grove2, 3.6, .249},
                                           {dimetrodon, 3.25, .175},
                                           {venus, 8.25, .48},
                                           {no_clouds, 3.25, .145},
                                           {clouds_ground, 2.68, .135}});
}

INSTANTIATE_TEST_SUITE_P(Devices, Accuracy, cpu_and_cuda(), accuracy_name);

}  // namespace
}  // namespace parafield
