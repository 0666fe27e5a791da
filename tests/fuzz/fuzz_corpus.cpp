// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "io/samples.hpp"

// Writes the sample files of the tests, from which the fuzzers start, into FOLDER/frame, FOLDER/flow,
// FOLDER/disparity, FOLDER/tracks, FOLDER/calibration and FOLDER/container.
int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus FOLDER\n");
    return 2;
  }
  const auto write = [&](const char* kind, const std::vector<parafield::samples::Sample>& samples) {
    const std::filesystem::path folder = std::filesystem::path(arguments[1]) / kind;
    std::filesystem::create_directories(folder);
    for (const parafield::samples::Sample& sample : samples)
      std::ofstream(folder / sample.name, std::ios::binary)
          .write(reinterpret_cast<const char*>(sample.bytes.data()), std::streamsize(sample.bytes.size()));
  };
  write("frame", parafield::samples::pngs());
  write("frame", parafield::samples::pnms());
  write("frame", parafield::samples::jpegs());
  write("frame", parafield::samples::pfms());
  write("frame", parafield::samples::tiffs());
  write("frame", parafield::samples::npy_frames());
  write("frame", parafield::samples::y4ms());
  write("frame", parafield::samples::bmps());
  write("frame", parafield::samples::webps());
  write("frame", parafield::samples::exrs());
  write("frame", {{"pages.tif", parafield::samples::tiff_pages()}});
  write("flow", parafield::samples::npzs());
  write("flow", parafield::samples::pfms());
  write("flow", parafield::samples::flows());
  write("disparity", parafield::samples::pfms());
  write("disparity", parafield::samples::disparities());
  write("tracks", parafield::samples::tracks());
  write("calibration", parafield::samples::calibrations());
  write("container", parafield::samples::containers());
}
