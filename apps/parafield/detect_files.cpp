// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "detect.hpp"

namespace parafield::command {

/// Returns text like "1 file" or "2 files".
static std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void check_labels(const DetectOptions& options, std::size_t masks) {
  if (!options.labels.empty() && options.labels.size() != masks)
    throw UsageError(fmt::format("--gt: {} for {}; give one for each frame after the first",
                                 counted(options.labels.size(), "file"), counted(masks, "mask")));
}

[[noreturn]] static void fail_writing(const std::string& file, int reason) {
  throw Error(ErrorCode::file, fmt::format("{}: cannot be written: {}", file, std::strerror(reason)));
}

BoxLines::BoxLines(const std::string& file, int min_area)
    : file_(file), beside_(file + ".part"), min_area_(std::max(min_area, 1)) {}
BoxLines::~BoxLines() {
  if (!open_) return;
  std::fclose(open_);
  std::remove(beside_.c_str());
}

const std::vector<Box>& BoxLines::add(const Image<std::uint8_t>& moving, std::int64_t frame, double time) {
  if (!finder_) finder_.emplace(moving.size(), BoxOptions{.min_area = min_area_, .device = Device::cpu(1)});
  const std::span<const Box> found = (*finder_)(moving);
  boxes_.assign(found.begin(), found.end());
  if (file_.empty()) return boxes_;
  Json boxes = Json::array();
  for (const Box& box : boxes_)
    boxes.push_back(
        {{"x", box.x}, {"y", box.y}, {"width", box.width}, {"height", box.height}, {"area", box.area}});
  const double pixels = double(moving.size().width) * moving.size().height;
  Json line = {{"frame", frame}, {"moving", double(count_of(moving)) / pixels}, {"boxes", boxes}};
  if (time >= 0) line["time"] = time;
  write(line.dump() + "\n");
  return boxes_;
}

void BoxLines::write(const std::string& line) {
  if (file_ == "-") return print(line);
  if (!open_) {
    whole_.emplace();
    open_ = std::fopen(beside_.c_str(), "wb");
    if (!open_) fail_writing(file_, errno);
  }
  if (std::fwrite(line.data(), 1, line.size(), open_) != line.size() || std::fflush(open_) != 0) {
    const int reason = errno;
    if (ftruncate(fileno(open_), bytes_) == 0) std::clearerr(open_);  // keeps only complete lines
    fail_writing(file_, reason);
  }
  bytes_ += long(line.size());
}

void BoxLines::finish() {
  if (!open_) return;
  const bool closed = std::fclose(std::exchange(open_, nullptr)) == 0;
  if (!closed || std::rename(beside_.c_str(), file_.c_str()) != 0) {
    const int reason = errno;
    std::remove(beside_.c_str());
    fail_writing(file_, reason);
  }
  whole_.reset();
}

void draw_boxes(FrameBuffer& picture, const std::vector<Box>& boxes) {
  const Size size = picture.size();
  const int thick = 1 + std::min(size.width, size.height) / 480;
  const auto fill = [&](int left, int top, int right, int bottom) {  // right and bottom are exclusive
    for (int y = std::max(top, 0); y < std::min(bottom, size.height); ++y)
      for (int x = std::max(left, 0); x < std::min(right, size.width); ++x) {
        auto* const pixel = static_cast<std::uint8_t*>(picture.row(y)) + 3 * x;
        pixel[0] = 255, pixel[1] = 220, pixel[2] = 0;
      }
  };
  for (const Box& box : boxes) {
    const int right = box.x + box.width, bottom = box.y + box.height;
    fill(box.x - thick, box.y - thick, right + thick, box.y);
    fill(box.x - thick, bottom, right + thick, bottom + thick);
    fill(box.x - thick, box.y, box.x, bottom);
    fill(right, box.y, right + thick, bottom);
  }
}

FrameBuffer overlay_of(const DetectOptions& options, const FrameBuffer& frame, const MotionMask& found,
                       const std::vector<Box>& boxes) {
  FrameBuffer picture = overlay_mask(frame, found);
  if (options.min_area > 0) draw_boxes(picture, boxes);
  return options.beside ? beside(frame, picture) : std::move(picture);
}

Findings::Findings(const DetectOptions& options) {
  if (options.min_area > 0 || !options.boxes.empty())
    boxes = std::make_unique<BoxLines>(options.boxes, options.min_area);
}

const std::vector<Box>& Findings::take(const DetectOptions& options, std::size_t i, const MotionMask& found,
                                       std::int64_t number, double time) {
  static const std::vector<Box> none;
  const Size size = found.size();
  moving += count_of(found.moving);
  pixels += std::int64_t(size.width) * size.height;
  if (i < options.labels.size()) {
    const FrameBuffer labels = read_like(options.labels[i], options.frames[0], size,
                                         [](const std::string& file) { return read_frame(file); });
    if (!scored) scored = read_like(options.mask, options.frames[0], size, read_mask);
    scores += naming(options.labels[i], [&] { return evaluate(found, labels, {.mask = scored}); });
  }
  return boxes ? boxes->add(found.moving, number, time) : none;
}

void Findings::add(const DetectOptions& options, std::size_t i, const MotionMask& found,
                   const FrameBuffer& frame, const Path& to_output, const Path& to_overlay) {
  const WhileWriting whole;
  const std::vector<Box>& found_boxes = take(options, i, found, std::int64_t(i) + 1, -1);
  if (!to_output.empty()) write_mask(to_output, found.moving);
  if (!to_overlay.empty()) write_frame(to_overlay, overlay_of(options, frame, found, found_boxes));
}

void Findings::add_to(Report& report, const DetectOptions& options,
                      const std::vector<double>& energies) const {
  const double share = double(moving) / double(pixels);
  report.json["moving"] = share;
  report.text += fmt::format("{:.2f} % of the pixels are moving\n", 100 * share);
  if (!energies.empty())
    add_energies(report, options.energy == "result" ? EnergyReport::result : EnergyReport::sweeps, energies);
  if (!options.labels.empty()) add_scores(report, scores);
  std::vector<std::string> files;
  for (const std::string& name : {options.output, options.overlay, options.boxes})
    if (name != "-") files.push_back(name);
  add_files(report, files);
}

}  // namespace parafield::command
