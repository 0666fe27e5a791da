#include "commands.hpp"
#include "files.hpp"
#include "options.hpp"
#include "report.hpp"

namespace parafield::command {
namespace {

struct EvalOptions {
  std::string estimate, truth, mask;
  bool valid_only = false, json = false;
};

const char* to_text(FileKind kind) {
  switch (kind) {
    case FileKind::frame:
      return "a picture";
    case FileKind::flow:
      return "flow";
    default:
      return "nothing that is known";
  }
}

void run(const EvalOptions& options) {
  const FileKind estimate_kind = file_kind(options.estimate), truth_kind = file_kind(options.truth);
  if (estimate_kind != FileKind::flow || truth_kind != FileKind::flow)
    throw Error(ErrorCode::format,
                fmt::format("two flow files can be compared, but {} holds {} and {} holds {}",
                            options.estimate, to_text(estimate_kind), options.truth, to_text(truth_kind)));
  const FlowField estimate = read_flow(options.estimate), truth = read_flow(options.truth);
  check_same_size(options.estimate, estimate.size(), options.truth, truth.size());
  Image<std::uint8_t> mask;
  if (!options.mask.empty()) {
    mask = read_mask(options.mask);
    check_same_size(options.truth, truth.size(), options.mask, mask.size());
  }
  const FlowScores scores = evaluate(estimate, truth, {.mask = mask, .valid_only = options.valid_only});
  if (!options.json) return print(scores_text(scores));
  Json report;
  report["task"] = "flow";
  report["width"] = truth.size().width;
  report["height"] = truth.size().height;
  add_scores(report, scores);
  print(json_text(report));
}

}  // namespace

void add_eval(CLI::App& program) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = program.add_subcommand("eval", "Compare an estimated flow with the true one");
  command->add_option("EST", options->estimate, "estimated flow: .flo, .pfm, .npy or KITTI .png")
      ->required()
      ->type_name("FILE");
  command->add_option("GT", options->truth, "true flow, of the same size; unknown pixels do not count")
      ->required()
      ->type_name("FILE");
  command->add_option("--mask", options->mask, "a picture; where it is 0, pixels do not count")
      ->type_name("FILE");
  command->add_flag("--valid-only", options->valid_only,
                    "count only the pixels that the estimate calls valid");
  command->add_flag("--json", options->json, "print the scores as one JSON object");
  command->callback([options] { run(*options); });
}

}  // namespace parafield::command
