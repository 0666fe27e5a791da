// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct EvalOptions {
  std::string estimate, truth, mask, confidence;
  FieldOptions field;
  float true_scale = 0;
  bool valid_only = false, json = false;
};

/// Returns a report of the scores that score(options) returns for two fields.
template <class Score>
Report evaluated(const EvalOptions& options, Task task, Size estimate, Size truth, Score score) {
  check_same_size(options.estimate, estimate, options.truth, truth);
  const auto mask = read_like(options.mask, options.truth, truth, read_mask);
  Report report = begin_report("eval");
  report.json["task"] = to_string(task);
  report.json["width"] = truth.width;
  report.json["height"] = truth.height;
  // Stereo has two sets of scores: inside the mask (usually the pixels that are not occluded) and for all
  // pixels.
  const EvaluationOptions how{
      .mask = mask, .valid_only = options.valid_only, .confidence = !options.confidence.empty()};
  if (task == Task::disparity)
    add_scores_both_ways(report, how, score);
  else
    add_scores(report, score(how), how);
  return report;
}

/// Reads the confidence of the estimate, if given.
template <class Field>
void add_confidence(const EvalOptions& options, Field& estimate) {
  estimate.confidence = read_like(options.confidence, options.estimate, estimate.size(), read_confidence);
}

Report compare_flow(const EvalOptions& options) {
  FlowField estimate = read_flow(options.estimate);
  const FlowField truth = read_flow(options.truth);
  add_confidence(options, estimate);
  return evaluated(options, Task::flow, estimate.size(), truth.size(),
                   [&](const EvaluationOptions& how) { return evaluate(estimate, truth, how); });
}

Report compare_disparity(const EvalOptions& options) {
  DisparityField estimate = read_disparity_of(options.estimate, options.field.scale, "--scale");
  const DisparityField truth = read_disparity_of(options.truth, options.true_scale, "--gt-scale");
  add_confidence(options, estimate);
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
  if (task == Task::mask && !options.confidence.empty())
    throw UsageError("--confidence: motion masks have no score of it; it needs flow or disparities");
  const Report report = task == Task::flow        ? compare_flow(options)
                        : task == Task::disparity ? compare_disparity(options)
                                                  : compare_mask(options);
  print(report, options.json);
}

}  // namespace

void add_eval(App& program) {
  auto [command, options] = add_command<EvalOptions>(
      program, "eval", "Compare flow, disparities or a motion mask with the truth", run);
  command.add_option("EST FILE", options.estimate,
                     "estimate: flow, disparities or a motion mask. Flow is .flo, .pfm, .npy or KITTI .png. "
                     "Disparities are .pfm, .npy or gray .png. A mask is any picture, not 0 where something "
                     "moves");
  command.add_option(
      "GT FILE", options.truth,
      "truth of the same kind and size. Unknown pixels do not count. For a mask it has labels as "
      "in CDnet: 0 and 50 are static, 255 is moving, 85 and 170 do not count");
  options.field.add_to(command, {"flow", "disparity", "mask"}, "--scale,--disparity-scale");
  command.get_option("--scale").help(
      "with a PNG of disparities as EST: the file's value of 1 px. Without it, PNGs of 16 bit have KITTI's "
      "256");
  add_scale(command, "--gt-scale", options.true_scale,
            "the same for GT. Middlebury has 16 (tsukuba), 8 (venus), 4 (cones) or 3 (art, aloe)");
  command.add_option(
      "--mask FILE", options.mask,
      "a picture that is 0 where pixels do not count. For disparities, the scores of all pixels "
      "are printed, too; in JSON they are \"all\"");
  command.add_option(
      "--confidence FILE", options.confidence,
      "confidence of EST: .pfm or .npy. Flow and stereo write it by --confidence. Its score is the area "
      "under the sparsification curve (AUC): the mean error of the most confident pixels, over all shares "
      "of them");
  command.add_flag(
      "--valid-only", options.valid_only,
      "only pixels that the estimate calls valid count. KITTI's PNG says which they are; in .flo, .pfm "
      "and .npy all known pixels are valid");
  command.add_flag(
      "--json", options.json,
      "print the scores as one JSON object. Shares are 0 to 1, angles in degrees, lengths in px, "
      "pwc in percent");
  command.examples({"eval flow.flo truth.flo", "eval disparity.pfm truth.png --gt-scale 4 --mask mask.png",
                    "eval --task mask mask.png labels.png --json"});
}

}  // namespace parafield::command
