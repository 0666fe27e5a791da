// SPDX-License-Identifier: MIT
// OpenEXR files with one flat image among their parts, through the library's C interface, which is loaded
// when such a file is read.
#include "io/formats.hpp"

#ifdef PARAFIELD_EXR_NAME
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <openexr.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "io/loaded_library.hpp"
#endif

namespace parafield::io {

bool is_exr(ByteSpan bytes) { return starts_with(bytes, "\x76\x2f\x31\x01"); }

#ifdef PARAFIELD_EXR_NAME
namespace {

#define PF_EXR_FUNCTIONS(F)                                                                            \
  F(exr_start_read)                                                                                    \
  F(exr_finish)                                                                                        \
  F(exr_get_count)                                                                                     \
  F(exr_get_name) F(exr_get_storage) F(exr_get_channels) F(exr_get_compression) F(exr_get_data_window) \
      F(exr_get_display_window) F(exr_get_scanlines_per_chunk) F(exr_get_tile_descriptor)              \
          F(exr_read_scanline_chunk_info) F(exr_read_tile_chunk_info) F(exr_decoding_initialize)       \
              F(exr_decoding_choose_default_routines) F(exr_decoding_run) F(exr_decoding_destroy)

struct Exr : LoadedLibrary {
#define PF_MEMBER(name) decltype(&::name) name = nullptr;
  PF_EXR_FUNCTIONS(PF_MEMBER)
#undef PF_MEMBER

  Exr() : LoadedLibrary(PARAFIELD_EXR_NAME, "EXR", "libopenexr-3-1-30") {
#define PF_FIND(name) find(this->name, #name);
    PF_EXR_FUNCTIONS(PF_FIND)
#undef PF_FIND
  }
};

/// Reads a file in memory, chunk by chunk: some rows, or a tile.
class Reader {
 public:
  Reader(const Exr& library, ByteSpan bytes) : exr_(library), bytes_(bytes) {
    exr_context_initializer_t how = EXR_DEFAULT_CONTEXT_INITIALIZER;
    how.user_data = this;
    how.read_fn = read;
    how.size_fn = [](exr_const_context_t, void* reader) {
      return std::int64_t(static_cast<Reader*>(reader)->bytes_.size());
    };
    how.error_handler_fn = [](exr_const_context_t, exr_result_t, const char*) {};
    how.max_image_width = how.max_image_height = max_side;
    how.flags = EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION;
    check(exr_.exr_start_read(&context_, "EXR", &how), "its header");
  }
  ~Reader() {
    if (context_) exr_.exr_finish(&context_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  FrameBuffer read_frame() {
    read_layout();
    const bool tiled = storage_ == EXR_STORAGE_TILED;
    std::uint32_t across = 0, down = 0;
    int rows = 0;
    if (tiled) {
      exr_tile_level_mode_t levels;
      exr_tile_round_mode_t rounding;
      check(exr_.exr_get_tile_descriptor(context_, part_, &across, &down, &levels, &rounding), "its tiles");
    } else {
      check(exr_.exr_get_scanlines_per_chunk(context_, part_, &rows), "its header");
      across = std::uint32_t(width_of(data_));
      down = std::uint32_t(rows);
    }
    if (across < 1 || down < 1) fail_format("damaged EXR file: chunks of ", across, "x", down, " pixels");
    for (std::int64_t y = 0; y < height_of(data_); y += down)
      for (std::int64_t x = 0; x < width_of(data_); x += across) {
        exr_chunk_info_t chunk = {};
        check(tiled ? exr_.exr_read_tile_chunk_info(context_, part_, int(x / across), int(y / down), 0, 0,
                                                    &chunk)
                    : exr_.exr_read_scanline_chunk_info(context_, part_, int(data_.min.y + y), &chunk),
              "its table of chunks");
        read_chunk(chunk, data_.min.x + x, data_.min.y + y);
      }
    return std::move(frame_);
  }

 private:
  static std::int64_t width_of(const exr_attr_box2i_t& box) {
    return std::int64_t(box.max.x) - box.min.x + 1;
  }
  static std::int64_t height_of(const exr_attr_box2i_t& box) {
    return std::int64_t(box.max.y) - box.min.y + 1;
  }

  static std::int64_t read(exr_const_context_t, void* reader, void* to, std::uint64_t count,
                           std::uint64_t offset, exr_stream_error_func_ptr_t) {
    const ByteSpan bytes = static_cast<Reader*>(reader)->bytes_;
    const std::uint64_t given = std::min(count, bytes.size() - std::min<std::uint64_t>(offset, bytes.size()));
    if (given > 0) std::memcpy(to, bytes.data() + offset, given);
    return std::int64_t(given);
  }

  static void check(exr_result_t result, const char* what) {
    if (result == EXR_ERR_OUT_OF_MEMORY) throw std::bad_alloc();
    if (result == EXR_ERR_FEATURE_NOT_IMPLEMENTED)
      fail_unsupported(
          "an EXR file with a compression (DWA) that this version of the OpenEXR library does not read; "
          "save it with another one, such as ZIP");
    if (result != EXR_ERR_SUCCESS) fail_format("damaged EXR file: ", what, " cannot be read");
  }

  /// Reads the header, and checks that the image is of a kind that is supported.
  void read_layout() {
    choose_part();
    check(exr_.exr_get_data_window(context_, part_, &data_), "its header");
    check(exr_.exr_get_display_window(context_, part_, &display_), "its header");
    for (const exr_attr_box2i_t& box : {data_, display_}) {
      check_sides("an EXR file", width_of(box), height_of(box));
      check_pixels("an EXR file", width_of(box), height_of(box));
    }
    exr_compression_t compression;
    check(exr_.exr_get_compression(context_, part_, &compression), "its header");
    if (compression != EXR_COMPRESSION_B44 && compression != EXR_COMPRESSION_B44A) return;
    for (int i = 0; i < channels_->num_channels; ++i)  // OpenEXR 3.1 decodes them wrongly
      if (channels_->entries[i].pixel_type != EXR_PIXEL_HALF)
        fail_unsupported(
            "an EXR file with the compression B44 and channels other than half floats is not supported");
  }

  /// Chooses the only part with channels that can be chosen. If there are several, the one with colors.
  void choose_part() {
    int parts = 0;
    check(exr_.exr_get_count(context_, &parts), "its header");
    std::vector<int> colored, others;
    std::string all;
    bool deep = true;
    for (int part = 0; part < parts; ++part) {
      look_at(part);
      const bool is_flat = storage_ == EXR_STORAGE_SCANLINE || storage_ == EXR_STORAGE_TILED;
      deep = deep && !is_flat;
      if (is_flat && !chosen_.empty()) (chosen_.size() == 3 ? colored : others).push_back(part);
      const char* name = nullptr;
      if (parts > 1 && exr_.exr_get_name(context_, part, &name) != EXR_ERR_SUCCESS) name = nullptr;
      all += text(part ? "; " : "", name ? shown(std::string(name)) + ": " : "", channel_names());
    }
    const std::vector<int>& best = colored.empty() ? others : colored;
    if (best.size() == 1) return look_at(best[0]);
    if (deep) fail_unsupported("an EXR file with deep pixels is not supported; flatten it");
    if (best.empty())
      fail_unsupported("an EXR file with the channels ", all,
                       " is not supported; R, G and B, or Y, or one are");
    fail_unsupported(
        "an EXR file of ", parts, " parts, of which ", best.size(),
        " could be the picture, is not supported; save the one that is meant as a file of its own (", all,
        ")");
  }

  /// Reads the storage and the channels of a part, and chooses from them.
  void look_at(int part) {
    part_ = part;
    check(exr_.exr_get_storage(context_, part, &storage_), "its header");
    check(exr_.exr_get_channels(context_, part, &channels_), "its channels");
    choose_channels();
  }

  std::string channel_names() const {
    std::string names;
    for (int i = 0; i < channels_->num_channels; ++i)
      names += (i ? ", " : "") + shown(std::string(channels_->entries[i].name.str));
    return names;
  }

  /// Chooses R, G and B, or Y, or the only channel, or none. A layer's name may precede them ("view.R") if no
  /// other layer has them.
  void choose_channels() {
    chosen_.clear();
    const auto find = [&](std::string_view wanted) {
      int found = -1, count = 0;
      for (int i = 0; i < channels_->num_channels; ++i) {
        const std::string_view name(channels_->entries[i].name.str,
                                    std::size_t(channels_->entries[i].name.length));
        if (name == wanted) return i;
        if (!name.ends_with(wanted) || !name.substr(0, name.size() - wanted.size()).ends_with('.')) continue;
        found = i;
        ++count;
      }
      return count == 1 ? found : -1;
    };
    const int red = find("R"), green = find("G"), blue = find("B"), luma = find("Y");
    if (red >= 0 && green >= 0 && blue >= 0)
      chosen_ = {red, green, blue};
    else if (luma >= 0)
      chosen_ = {luma};
    else if (channels_->num_channels == 1)
      chosen_ = {0};
    for (const int i : chosen_)
      if (channels_->entries[i].x_sampling != 1 || channels_->entries[i].y_sampling != 1)
        return chosen_.clear();
  }

  /// Reads a chunk, whose first pixel is (x, y), and stores the part of it that is displayed.
  void read_chunk(const exr_chunk_info_t& chunk, std::int64_t x, std::int64_t y) {
    const std::int64_t width = chunk.width, height = chunk.height;
    if (width < 1 || height < 1 || width > width_of(data_) || height > height_of(data_) ||
        width * height > most_pixels)
      fail_format("damaged EXR file: a chunk of ", width, "x", height, " pixels");
    if (chunk.packed_size > bytes_.size())
      fail_format("damaged EXR file: a chunk of ", chunk.packed_size, " bytes");
    const std::size_t pixels = std::size_t(width * height);
    // Memory that is not touched yet: a damaged file fails before most of it is used.
    if (pixels > room_) block_ = std::make_unique_for_overwrite<float[]>((room_ = pixels) * chosen_.size());
    struct Pipeline {
      const Exr& exr;
      exr_context_t context;
      exr_decode_pipeline_t all = {};
      ~Pipeline() { exr.exr_decoding_destroy(context, &all); }
    } pipeline{exr_, context_};
    check(exr_.exr_decoding_initialize(context_, part_, &chunk, &pipeline.all), "a chunk");
    for (std::size_t c = 0; c < chosen_.size(); ++c) {
      exr_coding_channel_info_t& channel = pipeline.all.channels[chosen_[c]];
      if (channel.width != width || channel.height != height) fail_format("damaged EXR file: its channels");
      channel.decode_to_ptr = reinterpret_cast<std::uint8_t*>(block_.get() + c * pixels);
      channel.user_bytes_per_element = 4;
      channel.user_data_type = EXR_PIXEL_FLOAT;
      channel.user_pixel_stride = 4;
      channel.user_line_stride = std::int32_t(4 * width);
    }
    check(exr_.exr_decoding_choose_default_routines(context_, part_, &pipeline.all), "a chunk");
    check(exr_.exr_decoding_run(context_, part_, &pipeline.all), "a chunk");
    const int count = int(chosen_.size());
    // The first chunk must decode before the frame is allocated. Pixels without data are black.
    if (frame_.size() == Size{})
      frame_ = FrameBuffer({int(width_of(display_)), int(height_of(display_))},
                           count == 3 ? PixelFormat::rgb_f32 : PixelFormat::gray_f32);
    const View<float> values = values_of<float>(frame_);
    for (std::int64_t j = 0; j < height; ++j) {
      const std::int64_t row = y + j - display_.min.y;
      if (row < 0 || row >= height_of(display_)) continue;
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t column = x + i - display_.min.x;
        if (column < 0 || column >= width_of(display_)) continue;
        for (int c = 0; c < count; ++c)
          values(int(column) * count + c, int(row)) =
              block_[std::size_t(c) * pixels + std::size_t(j * width + i)];
      }
    }
  }

  const Exr& exr_;
  ByteSpan bytes_;
  exr_context_t context_ = nullptr;
  int part_ = 0;
  exr_storage_t storage_ = {};
  exr_attr_box2i_t data_ = {}, display_ = {};
  const exr_attr_chlist_t* channels_ = nullptr;
  std::vector<int> chosen_;
  std::unique_ptr<float[]> block_;
  std::size_t room_ = 0;  // pixels
  FrameBuffer frame_;
};

}  // namespace

FrameBuffer decode_exr(ByteSpan bytes) {
  static const Exr exr;
  exr.check();
  return Reader(exr, bytes).read_frame();
}

#else

FrameBuffer decode_exr(ByteSpan) {
  fail_unsupported("EXR files cannot be read: parafield was built without OpenEXR (Debian: libopenexr-dev)");
}

#endif

}  // namespace parafield::io
