// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "interrupt.hpp"
#include "serve/answers.hpp"

namespace parafield::command {
namespace {

/// A folder with a random name that only this user can open. It is removed with its files.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "parafield-serve-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw Error(ErrorCode::file, fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path path;
};

/// A file of a result, and the function that writes it.
template <class Result>
struct ResultFile {
  const char* name;
  void (*write)(const std::filesystem::path& path, const Result& result);
};
using std::filesystem::path;

constexpr ResultFile<FlowField> flow_files[] = {
    {"flow.flo", [](const path& to, const FlowField& flow) { write_flow(to, flow); }},
    {"flow.npy", [](const path& to, const FlowField& flow) { write_flow(to, flow); }},
    {"flow.pfm", [](const path& to, const FlowField& flow) { write_flow(to, flow); }},
    {"flow-kitti.png", [](const path& to, const FlowField& flow) { write_flow(to, flow); }},
    {"valid.png", [](const path& to, const FlowField& flow) { write_mask(to, flow.valid); }}};
constexpr ResultFile<DisparityField> disparity_files[] = {
    {"disparity.pfm", [](const path& to, const DisparityField& field) { write_disparity(to, field); }},
    {"disparity.npy", [](const path& to, const DisparityField& field) { write_disparity(to, field); }},
    {"disparity-kitti.png", [](const path& to, const DisparityField& field) { write_disparity(to, field); }},
    {"valid.png", [](const path& to, const DisparityField& field) { write_mask(to, field.valid); }}};
constexpr ResultFile<MotionMask> mask_files[] = {
    {"mask.png", [](const path& to, const MotionMask& mask) { write_mask(to, mask.moving); }},
    {"mask.pgm", [](const path& to, const MotionMask& mask) { write_mask(to, mask.moving); }}};

constexpr std::span<const ResultFile<FlowField>> files_of(const FlowField&) { return flow_files; }
constexpr std::span<const ResultFile<DisparityField>> files_of(const DisparityField&) {
  return disparity_files;
}
constexpr std::span<const ResultFile<MotionMask>> files_of(const MotionMask&) { return mask_files; }

template <class Result>
std::string content_of(const ResultFile<Result>& file, const Result& result) {
  const WhileWriting whole;  // holds signals back until the folder is removed
  const TemporaryFolder folder;
  const std::filesystem::path to = folder.path / file.name;
  try {
    file.write(to, result);
  } catch (const Error& error) {
    std::string message = error.what();
    if (message.starts_with(to.string())) message.replace(0, to.string().size(), file.name);
    throw Error(error.code(), message);
  }
  std::ifstream bytes(to, std::ios::binary);
  return {std::istreambuf_iterator<char>(bytes), {}};
}

}  // namespace

Json ServeResults::keep(Result result) {
  Json kept = {{"id", random_word()}, {"files", Json::array()}};
  std::visit(
      [&](const auto& field) {
        for (const auto& file : files_of(field)) kept["files"].push_back(file.name);
      },
      result);
  const std::lock_guard lock(mutex_);
  kept_.push_back({kept["id"], std::make_shared<const Result>(std::move(result))});
  if (kept_.size() > most) kept_.pop_front();
  return kept;
}

std::string ServeResults::file(const std::string& id, const std::string& name) const {
  std::shared_ptr<const Result> result;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = std::ranges::find(kept_, id, &Kept::id);
    if (kept != kept_.end()) result = kept->result;
  }
  if (!result)
    throw Error(ErrorCode::file,
                fmt::format("only the last {} results are kept; estimate this one again", most));
  return std::visit(
      [&](const auto& field) -> std::string {
        for (const auto& file : files_of(field))
          if (file.name == name) return content_of(file, field);
        throw Error(ErrorCode::file, fmt::format("the result has no file {}", detail::quoted(name)));
      },
      *result);
}

}  // namespace parafield::command
