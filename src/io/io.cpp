// SPDX-License-Identifier: MIT
#include "parafield/io.hpp"

#include <algorithm>

#include "io/floats.hpp"
#include "io/frames.hpp"
#include "io/npz.hpp"

namespace parafield {
namespace io {
namespace {

/// Reads a file. If its format is unknown, it reads only the first bytes, because the file may be huge.
Bytes read_content(const std::filesystem::path& path) {
  Bytes head = read_file(path, recognized_by);
  return content_of(head) == Content::unknown ? head : read_file(path);
}

/// The name of a stream of frames in messages.
std::filesystem::path name_of_stream(const std::filesystem::path& path) {
  return path == "-" ? "standard input" : path;
}

}  // namespace

FlowField decode_flow(ByteSpan bytes) {
  const Content content = content_of(bytes);
  if (content == Content::png) return decode_kitti(bytes);
  if (content == Content::flo) return flow_of(open_flo(bytes));
  if (content == Content::npy) return flow_of(open_npy(bytes, 2));
  if (content == Content::npz) {
    const NpzFlows flows(bytes);
    if (flows.count() > 1)
      fail_format("holds ", flows.count(), " flow fields; FlowReader reads one after the other");
    return flows(0);
  }
  if (content != Content::pfm)
    fail_content(bytes, "a flow field", ".flo, PFM, .npy, .npz or KITTI flow (PNG)");
  const Floats floats = open_pfm(bytes);
  if (floats.channels != 3)
    fail_format(
        "a PFM file of one channel (Pf), not flow; flow has three (PF): u, v and one that is ignored");
  return flow_of(floats);
}

DisparityField decode_disparity(ByteSpan bytes, float scale) {
  const Content content = content_of(bytes);
  if (content == Content::png) return decode_png_disparity(bytes, scale);
  if (content == Content::npz) return decode_npz_disparity(bytes);
  if (content != Content::pfm && content != Content::npy)
    fail_content(
        bytes, content == Content::pnm ? "disparities; they are PFM, .npy, .npz or gray PNG" : "disparities",
        "PFM, .npy, .npz or PNG");
  const Floats floats = content == Content::pfm ? open_pfm(bytes) : open_npy(bytes, 1);
  if (floats.channels != 1)
    fail_format("a PFM file of three channels (PF), not disparities, which have one (Pf)");
  return disparity_of(floats.size, floats);
}

}  // namespace io

FrameBuffer read_frame(const std::filesystem::path& path, std::string* note) {
  const std::filesystem::path name = io::name_of_stream(path);
  return io::naming(name, [&] {
    io::ByteStream bytes(path);
    io::FrameStream frames(bytes);
    FrameBuffer frame = frames.only();
    if (note) *note = frames.note().empty() ? "" : text(io::shown(name), ": ", frames.note());
    return frame;
  });
}

Covariance<Image<float>> read_covariance(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    const io::Bytes bytes = io::read_content(path);
    if (io::content_of(bytes) != io::Content::npy) io::fail_content(bytes, "a covariance", ".npy");
    const io::Floats floats = io::open_npy(bytes, 3);
    Covariance<Image<float>> covariance{Image<float>(floats.size), Image<float>(floats.size),
                                        Image<float>(floats.size)};
    for_each_pixel(floats.size, [&](int x, int y) {
      covariance.xx(x, y) = floats(x, y, 0);
      covariance.xy(x, y) = floats(x, y, 1);
      covariance.yy(x, y) = floats(x, y, 2);
    });
    return covariance;
  });
}

FlowField read_flow(const std::filesystem::path& path) {
  return io::naming(path, [&] { return io::decode_flow(io::read_content(path)); });
}

struct FlowReader::Impl {
  std::filesystem::path path;
  io::Bytes bytes;
  std::optional<io::NpzFlows> flows = {};
};

FlowReader::FlowReader(const std::filesystem::path& path) {
  io::naming(path, [&] {
    impl_.reset(new Impl{path, io::read_content(path)});
    if (io::content_of(impl_->bytes) == io::Content::npz) impl_->flows.emplace(impl_->bytes);
  });
}
FlowReader::~FlowReader() = default;
FlowReader::FlowReader(FlowReader&&) noexcept = default;
FlowReader& FlowReader::operator=(FlowReader&&) noexcept = default;

int FlowReader::count() const { return impl_->flows ? impl_->flows->count() : 1; }

FlowField FlowReader::read(int index) const {
  return io::naming(impl_->path, [&] {
    if (index < 0 || index >= count())
      fail_value("flow field ", index, " does not exist; the file holds ", count(), ", numbered from 0");
    return impl_->flows ? (*impl_->flows)(index) : io::decode_flow(impl_->bytes);
  });
}

DisparityField read_disparity(const std::filesystem::path& path, float scale) {
  return io::naming(path, [&] {
    io::check_scale(scale, true);
    return io::decode_disparity(io::read_content(path), scale);
  });
}

namespace {

/// 1 where any channel of the pixel is above 0.
Image<std::uint8_t> mask_of(const FrameBuffer& frame) {
  Image<std::uint8_t> mask(frame.size());
  const int count = channels(frame.format());
  with_value_type(frame.format(), [&]<class T>(T) {
    const View<const T> values = values_of<T>(frame);
    for_each_pixel(mask.size(), [&](int x, int y) {
      mask(x, y) = std::any_of(&values(count * x, y), &values(count * x, y) + count,
                               [](T value) { return value > 0; });
    });
  });
  return mask;
}

}  // namespace

Image<std::uint8_t> read_mask(const std::filesystem::path& path) {
  const FrameBuffer frame = read_frame(path);
  return io::naming(path, [&] { return mask_of(frame); });
}

Image<std::uint8_t> read_alpha(const std::filesystem::path& path) {
  return io::naming(path, [&]() -> Image<std::uint8_t> {
    if (path == "-" || !std::filesystem::is_regular_file(path)) return {};
    const io::Content content = io::content_of(io::read_file(path, io::recognized_by));
    const auto decode = content == io::Content::png    ? io::decode_png_alpha
                        : content == io::Content::tiff ? io::decode_tiff_alpha
                        : content == io::Content::webp ? io::decode_webp_alpha
                                                       : nullptr;
    if (!decode) return {};
    const FrameBuffer alpha = decode(io::read_file(path));
    return alpha.size() == Size{} ? Image<std::uint8_t>() : mask_of(alpha);
  });
}

FileKind file_kind(const std::filesystem::path& path) {
  return io::naming(path, [&] {
    const io::Bytes head = io::read_file(path, 4096);  // with the shape, which ends the header of a .npy file
    const io::Content content = io::content_of(head);
    if (content == io::Content::unknown) return FileKind::unknown;
    if (content == io::Content::flo) return FileKind::flow;
    if (content == io::Content::pfm) return io::is_pfm_of_flow(head) ? FileKind::flow : FileKind::disparity;
    if (content == io::Content::npy) return io::kind_of_npy(head);
    if (content == io::Content::npz) return io::kind_of_npz(io::read_file(path));
    if (content != io::Content::png) return FileKind::frame;
    // If the header is damaged, the reader reports it.
    try {
      return io::png_header(head).is_flow() ? FileKind::flow : FileKind::frame;
    } catch (const Error&) {
      return FileKind::frame;
    }
  });
}

}  // namespace parafield
