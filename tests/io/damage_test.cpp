// SPDX-License-Identifier: MIT
#include <cstring>

#include "io/folder.hpp"
#include "io/frames.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

// Damaged files of every kind give an Error or an image, never anything else. Sanitizers find accesses out of
// bounds.
namespace parafield {
namespace {

std::vector<samples::Sample> all_samples() {
  std::vector<samples::Sample> all = samples::pnms();
  for (samples::Sample& sample : samples::pfms()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::tiffs()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::npy_frames()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::y4ms()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::flows()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::disparities()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::pngs()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::jpegs()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::bmps()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::webps()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::exrs()) all.push_back(std::move(sample));
  for (samples::Sample& sample : samples::npzs()) all.push_back(std::move(sample));
  // Libraries that are loaded when they are used may be missing.
  std::erase_if(all, [](const samples::Sample& sample) {
    if (!sample.name.ends_with(".webp") && !sample.name.ends_with(".exr")) return false;
    try {
      io::decode_frame(sample.bytes);
    } catch (const Error& error) {
      return error.code() == ErrorCode::unsupported;
    }
    return false;
  });
#ifndef PARAFIELD_HAS_JPEG
  std::erase_if(all, [](const samples::Sample& sample) { return sample.name.ends_with(".jpg"); });
#endif
#ifndef PARAFIELD_HAS_TIFF
  std::erase_if(all, [](const samples::Sample& sample) { return sample.name.ends_with(".tif"); });
#endif
#ifndef PARAFIELD_HAS_PNG
  std::erase_if(all, [](const samples::Sample& sample) { return sample.name.ends_with(".png"); });
#endif
  return all;
}

void decode(io::ByteSpan bytes) {
  // A copy of exactly that many bytes: the sanitizer sees an access past its end.
  const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
  const io::Content content = io::content_of(exact);
  const bool npy = content == io::Content::npy;
  const bool plane = npy ? io::kind_of_npy(exact) == FileKind::disparity
                         : content == io::Content::pfm && !io::is_pfm_of_flow(exact);
  const bool flow = content == io::Content::flo || content == io::Content::npz ||
                    (npy && io::kind_of_npy(exact) == FileKind::flow);
  if (plane) io::decode_disparity(exact, 1);
  if (flow || io::is_pfm_of_flow(exact)) io::decode_flow(exact);
  if (flow) return;
  io::decode_frame(exact);
  if (content == io::Content::png) io::decode_png_alpha(exact);
  // As from a pipe.
  io::ByteStream stream(exact, false);
  if (content == io::Content::pnm || content == io::Content::pfm || content == io::Content::y4m)
    io::FrameStream(stream).only();
}

TEST(Damage, SamplesAreSound) {
  for (const samples::Sample& sample : all_samples()) EXPECT_NO_THROW(decode(sample.bytes)) << sample.name;
}

/// Bytes of the chunk at the end of a PNG file, which may be missing.
constexpr std::size_t png_end = 12;

TEST(Damage, TruncatedAnywhereIsAnError) {
  for (const samples::Sample& sample : all_samples()) {
    // The line end after the last number of a plain file is not needed.
    std::size_t length = sample.bytes.size();
    while (sample.name.starts_with("plain") && sample.bytes[length - 1] == '\n') --length;
    // Nor is the place of the next image, which is the last number of a TIFF file.
    if (sample.name.ends_with(".tif")) length -= sample.bytes[2] + sample.bytes[3] == 43 ? 8 : 4;
    // Nor are end markers.
    if (sample.name.ends_with(".png")) length -= png_end;
    if (sample.name.ends_with(".jpg")) length -= 2;
    for (std::size_t count = 0; count < length; ++count) {
      expect_error(ErrorCode::format, "", [&] { decode({sample.bytes.data(), count}); });
      if (testing::Test::HasFailure()) FAIL() << sample.name << " of " << count << " bytes";
    }
  }
}

constexpr const char* may_be_unsupported[] = {".jpg", ".tif", ".y4m",  ".npy",
                                              ".npz", ".bmp", ".webp", ".exr"};

TEST(Damage, AnyByteChangedIsAnErrorOrAnImage) {
  for (const samples::Sample& sample : all_samples())
    for (std::size_t at = 0; at < sample.bytes.size(); ++at)
      for (const int change : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff}) {
        std::vector<std::uint8_t> damaged = sample.bytes;
        damaged[at] ^= std::uint8_t(change);
        try {
          decode(damaged);
        } catch (const Error& error) {
          // A JPEG or TIFF file with another coding, planes of a video or a type of an array may be sound,
          // but unsupported.
          const bool may = std::ranges::any_of(
              may_be_unsupported, [&](const char* extension) { return sample.name.ends_with(extension); });
          const bool unsupported = may && error.code() == ErrorCode::unsupported;
          ASSERT_EQ(int(error.code()), int(unsupported ? ErrorCode::unsupported : ErrorCode::format))
              << sample.name << " byte " << at << ": " << error.what();
        }
      }
}

#ifdef PARAFIELD_HAS_PNG
// The chunks of a PNG have checksums: damage in header, palette or pixels is always an error. A damaged
// length of the last chunk is a missing end marker.
TEST(Damage, ChangedPngIsNoImage) {
  for (const png_bytes::Header& header : samples::png_headers(5, 3)) {
    if (header.color_type == 3) continue;  // has a chunk tRNS, which is not read
    const samples::Bytes sound = samples::png(header);
    for (std::size_t at = 0; at < sound.size(); ++at) {
      samples::Bytes damaged = sound;
      damaged[at] ^= 0x10;
      SCOPED_TRACE(text(samples::name_of(header), " byte ", at));
      if (at >= sound.size() - png_end && at < sound.size() - png_end + 4) {
        const FrameBuffer whole = io::decode_frame(sound), frame = io::decode_frame(damaged);
        const int row_bytes = whole.size().width * bytes_per_pixel(whole.format());
        for (int y = 0; y < whole.size().height; ++y)
          EXPECT_EQ(std::memcmp(whole.row(y), frame.row(y), std::size_t(row_bytes)), 0);
        EXPECT_NE(io::note_png(damaged), "");
      } else {
        EXPECT_THROW(io::decode_frame(damaged), Error);
      }
    }
  }
}

TEST(Damage, LibpngPrintsNothing) {
  samples::Bytes damaged = samples::png({5, 3, 8, 2});
  damaged[45] ^= 1;
  testing::internal::CaptureStderr();
  EXPECT_THROW(io::decode_frame(damaged), Error);
  EXPECT_THROW(io::decode_frame({damaged.data(), 60}), Error);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
#endif

/// Decodes the bytes with each of them damaged in turn.
[[maybe_unused]] void decode_damaged(const samples::Bytes& sound) {
  for (std::size_t at = 0; at < sound.size(); ++at) {
    samples::Bytes damaged = sound;
    damaged[at] ^= 0x55;
    try {
      io::decode_frame(damaged);
    } catch (const Error&) {
    }
  }
}

#ifdef PARAFIELD_HAS_JPEG
TEST(Damage, LibjpegPrintsNothing) {
  testing::internal::CaptureStderr();
  decode_damaged(samples::jpeg({30, 20, 3}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
#endif

#ifdef PARAFIELD_HAS_TIFF
TEST(Damage, LibtiffPrintsNothing) {
  testing::internal::CaptureStderr();
  for (const samples::Sample& sample : samples::tiffs()) decode_damaged(sample.bytes);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
#endif

}  // namespace
}  // namespace parafield
