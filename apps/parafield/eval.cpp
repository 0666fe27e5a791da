// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "fields.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct EvalOptions {
  std::string estimate, truth, mask, confidence, covariance, sigma, outlier, outlier3;
  FieldOptions field;
  float true_scale = 0;
  bool valid_only = false, json = false;
};

/// Reads the probabilities of errors, if given.
template <class Field>
void add_outliers(const EvalOptions& options, Field& estimate) {
  estimate.outlier = read_like(options.outlier, options.estimate, estimate.size(), read_confidence);
  estimate.outlier3 = read_like(options.outlier3, options.estimate, estimate.size(), read_confidence);
}

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

/// Adds the scores of the estimate's error bars to a report, if it has any.
template <class Field>
Report with_bars(const EvalOptions& options, const Field& estimate, const Field& truth, Report report) {
  if (!has_bars(estimate)) return report;
  const auto mask = read_like(options.mask, options.truth, truth.size(), read_mask);
  add_bar_scores(report,
                 evaluate_error_bars(estimate, truth, {.mask = mask, .valid_only = options.valid_only}));
  return report;
}

Report compare_flow(const EvalOptions& options) {
  FlowField estimate = read_flow(options.estimate);
  const FlowField truth = read_flow(options.truth);
  add_confidence(options, estimate);
  add_outliers(options, estimate);
  if (!options.covariance.empty()) {
    estimate.covariance = read_covariance(options.covariance);
    check_same_size(options.covariance, estimate.covariance.xx.size(), options.estimate, estimate.size());
  }
  return with_bars(options, estimate, truth,
                   evaluated(options, Task::flow, estimate.size(), truth.size(),
                             [&](const EvaluationOptions& how) { return evaluate(estimate, truth, how); }));
}

Report compare_disparity(const EvalOptions& options) {
  DisparityField estimate = read_disparity_of(options.estimate, options.field.scale, "--scale");
  const DisparityField truth = read_disparity_of(options.truth, options.true_scale, "--gt-scale");
  add_confidence(options, estimate);
  add_outliers(options, estimate);
  estimate.sigma = read_like(options.sigma, options.estimate, estimate.size(), read_confidence);
  return with_bars(options, estimate, truth,
                   evaluated(options, Task::disparity, estimate.size(), truth.size(),
                             [&](const EvaluationOptions& how) { return evaluate(estimate, truth, how); }));
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
  if (task != Task::flow && !options.covariance.empty())
    throw UsageError(fmt::format("--covariance is for flow; the task is {}", to_string(task)));
  if (task != Task::disparity && !options.sigma.empty())
    throw UsageError(fmt::format("--sigma is for disparities; the task is {}", to_string(task)));
  if (task == Task::mask && !(options.outlier + options.outlier3).empty())
    throw UsageError("--outlier: motion masks have no error bars");
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
  command.add_option("--covariance FILE", options.covariance,
                     "error bars of EST, as flow writes them: scores how many errors are inside their "
                     "ellipses, and how they rank the errors (AUSE)");
  command.add_option("--sigma FILE", options.sigma, "the same for disparities, as stereo writes them");
  command.add_option("--outlier FILE", options.outlier,
                     "probability of an error above 1 px, as flow and stereo write it: scores its Brier "
                     "score and its calibration error. It flags pixels for the scores of error bars");
  command.add_option("--outlier3 FILE", options.outlier3, "the same for errors above 3 px");
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
