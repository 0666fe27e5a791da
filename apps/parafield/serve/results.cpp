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
      throw Error(ErrorCode::file, fmt::format("cannot make {}: {}", name, std::strerror(errno)));
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code none;
    std::filesystem::remove_all(path, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  Path path;
};

/// The files of a result, which write() distinguishes by their names.
std::vector<std::string_view> files_of(const FlowField&) {
  return {"flow.flo", "flow.npy", "flow.pfm", "flow-kitti.png", "valid.png"};
}
std::vector<std::string_view> files_of(const DisparityField&) {
  return {"disparity.pfm", "disparity.npy", "disparity-kitti.png", "valid.png"};
}
std::vector<std::string_view> files_of(const MotionMask&) { return {"mask.png", "mask.pgm"}; }

bool is_validity(const Path& path) { return path.filename() == "valid.png"; }
void write(const Path& path, const FlowField& flow) {
  is_validity(path) ? write_mask(path, flow.valid) : write_flow(path, flow);
}
void write(const Path& path, const DisparityField& field) {
  is_validity(path) ? write_mask(path, field.valid) : write_disparity(path, field);
}
void write(const Path& path, const MotionMask& mask) { write_mask(path, mask.moving); }

template <class Result>
std::string content_of(const std::string& name, const Result& result) {
  const WhileWriting whole;  // holds signals back until the folder is removed
  const TemporaryFolder folder;
  const Path path = folder.path / name;
  try {
    write(path, result);
  } catch (const Error& error) {
    std::string message = error.what();
    if (message.starts_with(path.string())) message.replace(0, path.string().size(), name);
    throw Error(error.code(), message);
  }
  std::ifstream bytes(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(bytes), {}};
}

}  // namespace

Json ServeResults::keep(Result result) {
  const Json kept = {{"id", random_word()},
                     {"files", std::visit([](const auto& field) { return files_of(field); }, result)}};
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
        if (std::ranges::count(files_of(field), name) == 0)
          throw Error(ErrorCode::file, fmt::format("the result has no file {}", detail::quoted(name)));
        return content_of(name, field);
      },
      *result);
}

}  // namespace parafield::command
