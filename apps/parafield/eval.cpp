// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct EvalOptions {
  std::string estimate, truth, mask;
  FieldOptions field;
  float true_scale = 0;
  bool valid_only = false, json = false;
};

/// Report of the scores that score(options) gives for two fields.
template <class Score>
Report evaluated(const EvalOptions& options, Task task, Size estimate, Size truth, Score score) {
  check_same_size(options.estimate, estimate, options.truth, truth);
  const auto mask = read_like(options.mask, options.truth, truth, read_mask);
  Report report = begin_report("eval");
  report.json["task"] = to_string(task);
  report.json["width"] = truth.width;
  report.json["height"] = truth.height;
  // Stereo has two scores: inside the mask (usually not occluded) and of all pixels.
  const EvaluationOptions how{.mask = mask, .valid_only = options.valid_only};
  if (task == Task::disparity)
    add_scores_both_ways(report, how, score);
  else
    add_scores(report, score(how));
  return report;
}

Report compare_flow(const EvalOptions& options) {
  const FlowField estimate = read_flow(options.estimate), truth = read_flow(options.truth);
  return evaluated(options, Task::flow, estimate.size(), truth.size(),
                   [&](const EvaluationOptions& how) { return evaluate(estimate, truth, how); });
}

Report compare_disparity(const EvalOptions& options) {
  const DisparityField estimate = read_disparity_of(options.estimate, options.field.scale, "--scale"),
                       truth = read_disparity_of(options.truth, options.true_scale, "--gt-scale");
  return evaluated(options, Task::disparity, estimate.size(), truth.size(),
                   [&](const EvaluationOptions& how) { return evaluate(estimate, truth, how); });
}

Report compare_mask(const EvalOptions& options) {
  const Image<std::uint8_t> estimate = read_mask(options.estimate);
  const FrameBuffer labels = read_frame(options.truth);
  return evaluated(options, Task::mask, estimate.size(), labels.size(), [&](const EvaluationOptions& how) {
    return naming(options.truth, [&] { return evaluate(MotionMaskView{estimate}, labels, how); });
  });
}

void run(const EvalOptions& options) {
  const Task task = options.field.task_of({options.estimate, options.truth},
                                          options.field.scale != 0 || options.true_scale != 0);
  if (task != Task::disparity && (options.field.scale != 0 || options.true_scale != 0))
    throw UsageError(fmt::format("--scale and --gt-scale need disparities; the task is {}", to_string(task)));
  if (task == Task::mask && options.valid_only)
    throw UsageError("--valid-only: motion masks have no valid pixels; it needs flow or disparities");
  const Report report = task == Task::flow        ? compare_flow(options)
                        : task == Task::disparity ? compare_disparity(options)
                                                  : compare_mask(options);
  print(report, options.json);
}

}  // namespace

void add_eval(App& program) {
  auto [command, options] = add_command<EvalOptions>(
      program, "eval", "Compare an estimated flow, disparity field or motion mask with the true one", run);
  command.add_option("EST FILE", options.estimate,
                     "estimate. Flow: .flo, .pfm, .npy or KITTI .png; disparities: .pfm, .npy or gray .png; "
                     "mask: any picture, not 0 where something moves");
  command.add_option("GT FILE", options.truth,
                     "truth of the same kind and size; unknown pixels do not count. For a mask: labels as in "
                     "CDnet, 0 and 50 are static, 255 is moving, 85 and 170 do not count");
  options.field.add_to(command, {"flow", "disparity", "mask"}, "--scale,--disparity-scale");
  command.get_option("--scale").help(
      "for disparities in a PNG as EST: the file's value of 1 px (default for 16 bit: KITTI's 256)");
  add_scale(command, "--gt-scale", options.true_scale,
            "the same for GT (Middlebury: tsukuba 16, venus 8, cones 4, art and aloe 3)");
  command.add_option("--mask FILE", options.mask,
                     "a picture; pixels that are 0 there do not count. For disparities, the scores of all "
                     "pixels are printed, too (JSON: in \"all\")");
  command.add_flag("--valid-only", options.valid_only, "count only the pixels that the estimate calls valid");
  command.add_flag("--json", options.json,
                   "print the scores as one JSON object: shares 0..1, degrees, px; pwc in percent");
}

}  // namespace parafield::command
