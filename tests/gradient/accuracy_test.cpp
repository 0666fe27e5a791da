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
  expect(AdaptiveRidge{}, {{rubber_whale, 3.13, .0971},
                           {grove2, 1.71, .1184},
                           {dimetrodon, 1.89, .1005},
                           {venus, 3.48, .232},
                           {no_clouds, 2.36, .1023},
                           {clouds_ground, 1.90, .0906},
                           {street, 2.91, .668}});
}

TEST_P(Accuracy, FastAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("fast"), {{rubber_whale, 3.42, .1093},
                                         {grove2, 2.01, .1372},
                                         {dimetrodon, 2.10, .1159},
                                         {venus, 4.68, .278},
                                         {no_clouds, 2.33, .1004},
                                         {clouds_ground, 1.93, .0941},
                                         {street, 6.81, 3.59}});
}

TEST_P(Accuracy, FastestAdaptiveRidge) {
  expect(preset<AdaptiveRidge>("fastest"), {{rubber_whale, 5.11, .1611},
                                            {grove2, 2.63, .1766},
                                            {dimetrodon, 2.81, .1569},
                                            {venus, 5.74, .3435},
                                            {no_clouds, 2.59, .1135},
                                            {clouds_ground, 2.36, .1134},
                                            {street, 7.60, 3.65}});
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
