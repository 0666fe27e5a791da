// SPDX-License-Identifier: MIT
#include "common/pictures.hpp"

#include "common/scenes.hpp"
#include "jodoin/study.hpp"

namespace parafield::bench {
namespace {

/// Picture of a mask: white where something moves.
FrameBuffer picture(const MotionMask& mask) {
  FrameBuffer picture(mask.size(), PixelFormat::gray_u8);
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x)
      static_cast<std::uint8_t*>(picture.row(y))[x] = mask.moving(x, y) ? 255 : 0;
  return picture;
}

}  // namespace

void draw_label_fields(const Study& study, const std::filesystem::path& folder) {
  const Size size{96, 72};  // small, as the label fields of WTA hardly compress
  const int sweeps = study.quick ? 5 : 500;

  const int disparities = 16;
  const Layers stereo = render_stereo(size, disparities);
  const StereoEnergy depth{.disparities = disparities,
                           .cost = {.weight = 0.07f, .truncation = 15},
                           .smoothness = {.beta = 1, .smoothness_truncation = 1.7f}};
  std::vector<FrameBuffer> fields;
  for (const StereoMethod& method : {StereoMethod(WinnerTakesAll<StereoEnergy>{depth}),
                                     StereoMethod(Icm<StereoEnergy>{depth, 10, SiteOrder::all_at_once}),
                                     StereoMethod(Annealing<StereoEnergy>{depth, sweeps, 1, 0.05f})})
    fields.push_back(
        color_disparity(estimate_disparity(stereo.frame0, stereo.frame1, method, {.device = study.device}),
                        {.min = 0, .max = float(disparities - 1)}));
  write_strip(folder / "disparities.png", stereo.frame0, fields);

  const Layers motion = render_motion(size, 5);
  const DisplacementEnergy displacement{
      .max_displacement = 5,
      .cost = {.weight = 0.07f, .truncation = 15},
      .smoothness = {.beta = 0.3f, .smoothness_truncation = 5, .neighbors = 4}};
  fields.clear();
  for (const FlowMethod& method :
       {FlowMethod(WinnerTakesAll<DisplacementEnergy>{displacement}),
        FlowMethod(Icm<DisplacementEnergy>{displacement, 10, SiteOrder::all_at_once}),
        FlowMethod(Annealing<DisplacementEnergy>{displacement, sweeps, 1, 0.05f})})
    fields.push_back(color_flow(estimate_flow(motion.frame0, motion.frame1, method, {.device = study.device}),
                                {.max_motion = 7}));
  write_strip(folder / "displacements.png", motion.frame0, fields);

  const Layers change = render_change(size);
  const ChangeEnergy moving{.mean = 22, .sigma = 15};
  fields.clear();
  for (const DetectionMethod& method :
       {DetectionMethod(WinnerTakesAll<ChangeEnergy>{moving}), DetectionMethod(Icm<ChangeEnergy>{moving, 10}),
        DetectionMethod(Annealing<ChangeEnergy>{moving, study.quick ? 5 : 60, 6, 0.2f})})
    fields.push_back(picture(detect_motion(change.frame0, change.frame1, method, {.device = study.device})));
  write_strip(folder / "masks.png", change.frame0, fields);
}

}  // namespace parafield::bench
