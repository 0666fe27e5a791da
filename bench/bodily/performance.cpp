// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <random>

#include "bodily/accuracy.hpp"

namespace parafield::bench {
namespace {

/// Frames of random bytes, as in the thesis's timings (chapter 5).
std::vector<FrameBuffer> random_frames(Size size) {
  std::mt19937 random(1);
  std::vector<FrameBuffer> frames;
  for (int i = 0; i < 8; ++i) {
    FrameBuffer frame(size, PixelFormat::gray_u8);
    for (int y = 0; y < size.height; ++y) {
      auto* row = static_cast<std::uint8_t*>(frame.row(y));
      for (int x = 0; x < size.width; ++x) row[x] = std::uint8_t(random() >> 24);
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

/// A way of frames and results.
struct Way {
  const char* name;  ///< where frames and results are
  Memory memory;     ///< of frames and results
  int batch;         ///< frames that are pushed before it waits for the device
};

std::vector<Way> ways(const Study& study) {
  if (!study.on_cuda()) return {{"in its memory", Memory::host(), 1}};
  return {{"on the device", memory_of(study.device), study.quick ? 2 : 50},
          {"on the device, one at a time", memory_of(study.device), 1},
          {"from and to the host", Memory::host(), study.quick ? 2 : 10},
          {"from and to the host, pinned", Memory::pinned(), study.quick ? 2 : 10}};
}

}  // namespace

std::vector<Table> performance_tables(const Study& study) {
  std::vector<Size> sizes{study.size(qvga), study.size(vga)};
  for (const Size size : {Size{1920, 1080}, Size{3840, 2160}}) sizes.push_back(study.size(size));
  Table table{
      "Table 5.1: frames a second and angular error",
      "Each result takes one new frame of random bytes, as in the thesis; medians. On the CPU frames "
      "lie in host memory. On CUDA there are four ways: frames and flow on the device, pushed without "
      "waiting; the same, waiting for each frame; frames uploaded and flow, validity and confidence "
      "downloaded, in ordinary host memory; the same in pinned memory. The thesis does not say whether "
      "its times include transfers. Its angular errors are those of Yosemite, in an unknown region; "
      "the library's are those of the ground of yos09 without the border that windows cross, or of a "
      "rendered scene if the sequence is not found.",
      {"method", "platform", "frames"},
      {{"tensor", "XUP FPGA (thesis)", "", 258, 64, "", "", {12.9, 1}},
       {"tensor", "8400 GS (thesis)", "", 77, 19, "", "", {12.1, 1}},
       {"tensor", "8800 GTX (thesis)", "", 847, 238, "", "", {12.1, 1}},
       {"tensor", "GTX 280 (thesis)", "", 1552, 462, "", "", {12.1, 1}},
       {"ridge", "Helios FPGA (thesis)", "", 60, 15, "", "", {6.8, 1}},
       {"ridge", "8400 GS (thesis)", "", 58, 14, "", "", {5.3, 1}},
       {"ridge", "8800 GTX (thesis)", "", 590, 158, "", "", {5.3, 1}},
       {"ridge", "GTX 280 (thesis)", "", 1104, 337, "", "", {5.3, 1}}}};
  Table times{"Table 5.1 in milliseconds",
              "Milliseconds of one result, median and minimum.",
              {"method", "platform", "frames"}};
  for (const Size size : sizes) {
    table.columns.push_back(size_text(size) + " fps");
    times.columns.push_back(size_text(size) + " ms");
    times.columns.push_back(size_text(size) + " min ms");
  }
  table.columns.push_back("AAE");

  const std::string device = describe_device(study.device).name;
  for (const ThesisMethod& thesis : thesis_methods()) {
    const std::size_t first = table.rows.size(), first_of_times = times.rows.size();
    for (const Way& way : ways(study)) {
      table.add(thesis.name, device, way.name);
      times.add(thesis.name, device, way.name);
    }
    for (const Size size : sizes) {
      std::vector<Call> calls;
      for (const Way& way : ways(study))
        calls.push_back(estimator_call<Flow>(
            thesis.method, study.device, size, copied(random_frames(size), way.memory),
            2 * frames_of(thesis.method),  // records a graph for each slot
            [](FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, std::size_t turn) {
              estimator.push(frames[turn % frames.size()]);
            },
            way.batch));
      const std::vector<Times> measured = time_in_turn(calls, study.effort);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        table.rows[first + i].push_back({1000 / measured[i].median, 0});
        times.rows[first_of_times + i].push_back({measured[i].median, 4});
        times.rows[first_of_times + i].push_back({measured[i].min, 4});
      }
    }
    const double error = thesis_error(study, thesis);
    for (std::size_t i = first; i < table.rows.size(); ++i) table.rows[i].push_back({error, 1});
  }
  return {std::move(table), std::move(times), accuracy_table(study)};
}

}  // namespace parafield::bench
