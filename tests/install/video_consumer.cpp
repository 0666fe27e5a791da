// SPDX-License-Identifier: MIT
// Uses the installed component video: writes and reads the video named by its argument, and estimates flow
// along it.
#include <parafield/parafield.hpp>
#include <parafield/pipeline.hpp>
#include <parafield/video.hpp>

int main(int, char** arguments) {
  const parafield::Scene scene = parafield::render_scene("translation", {.size = {64, 48}, .frames = 3});
  parafield::VideoWriter writer(arguments[1], {64, 48});
  for (const parafield::FrameBuffer& frame : scene.frames) writer.write(frame);
  writer.finish();
  parafield::FrameSource reader(arguments[1]);
  int count = 0;
  while (reader.next()) ++count;
  if (count != 3) return 2;
  parafield::FrameSource again(arguments[1]);
  parafield::FlowEstimator estimator(parafield::LucasKanade{}, {64, 48});
  const parafield::PipelineReport report =
      parafield::Pipeline(estimator).run([&](parafield::VideoFrame& frame) { return again.next(frame); },
                                         [](const parafield::VideoFrame&, parafield::FlowField&) {});
  if (report.results != 2) return 5;
  try {
    parafield::FrameSource("no.mp4");
    return 3;
  } catch (const parafield::Error& error) {
    return error.code() == parafield::ErrorCode::file ? 0 : 4;
  }
}
