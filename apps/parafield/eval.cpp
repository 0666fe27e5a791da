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

struct Report {
  Json json;
  std::string text;
};

/// The scores of two fields, of which `score(options)` makes one set.
template <class Score>
Report evaluated(const EvalOptions& options, Task task, Size estimate, Size truth, Score score) {
  check_same_size(options.estimate, estimate, options.truth, truth);
  Image<std::uint8_t> mask;
  if (!options.mask.empty()) {
    mask = read_mask(options.mask);
    check_same_size(options.truth, truth, options.mask, mask.size());
  }
  Report report;
  report.json["task"] = to_string(task);
  report.json["width"] = truth.width;
  report.json["height"] = truth.height;
  // stereo is scored both ways: not occluded, and all
  report.text = add_scores_of(report.json, {.mask = mask, .valid_only = options.valid_only},
                              task == Task::disparity, score);
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
    try {
      return evaluate(MotionMaskView{estimate}, labels, how);
    } catch (const Error& problem) {  // sizes are known to agree: it is a label
      throw Error(problem.code(), fmt::format("{}: {}", options.truth, problem.what()));
    }
  });
}

void run(const EvalOptions& options) {
  const Task task = options.field.task_of({options.estimate, options.truth},
                                          options.field.scale != 0 || options.true_scale != 0);
  if (task != Task::disparity && (options.field.scale != 0 || options.true_scale != 0))
    throw UsageError(
        fmt::format("--scale and --gt-scale are of disparities, the task is {}", to_string(task)));
  if (task == Task::mask && options.valid_only)
    throw UsageError("--valid-only: a mask of motion does not say where it is valid");
  const Report report = task == Task::flow        ? compare_flow(options)
                        : task == Task::disparity ? compare_disparity(options)
                                                  : compare_mask(options);
  print(options.json ? json_text(report.json) : report.text);
}

}  // namespace

void add_eval(App& program) {
  const auto options = std::make_shared<EvalOptions>();
  App command = program.add_subcommand(
      "eval", "Compare an estimated flow, disparity field or motion mask with the true one");
  command
      .add_option("EST", options->estimate,
                  "estimate. Flow: .flo, .pfm, .npy or KITTI .png; disparities: .pfm, .npy or gray .png; "
                  "mask: any picture, where it is not 0 something moves")
      .required()
      .type_name("FILE");
  command
      .add_option("GT", options->truth,
                  "truth, of the same kind and size; unknown pixels do not count. Mask: labels as CDnet's, "
                  "0 and 50 static, 255 moving, 85 and 170 not scored")
      .required()
      .type_name("FILE");
  options->field.add_to(command, {"flow", "disparity", "mask"}, "--scale,--disparity-scale");
  command.get_option("--scale").description(
      "EST is disparities in a PNG: the file's value of 1 px (without it, "
      "16 bit have KITTI's 256)");
  add_scale(command, "--gt-scale", options->true_scale,
            "likewise for GT (Middlebury: tsukuba 16, venus 8, cones 4, art and aloe 3)");
  command
      .add_option("--mask", options->mask,
                  "a picture; where it is 0, pixels do not count. For disparities, the scores of all pixels "
                  "are printed beside (JSON: in \"all\")")
      .type_name("FILE");
  command.add_flag("--valid-only", options->valid_only,
                   "count only the pixels that the estimate calls valid");
  command.add_flag("--json", options->json,
                   "print the scores as one JSON object: shares 0..1, degrees, px; pwc in percent, as CDnet");
  command.callback([options] { run(*options); });
}

}  // namespace parafield::command
