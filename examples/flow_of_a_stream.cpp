// SPDX-License-Identifier: MIT
// Flow of a stream of frames. The estimator allocates once and converts each frame once. Each flow starts
// from the last one.
#include <iostream>
#include <parafield/parafield.hpp>

int main() try {
  const parafield::Scene video = parafield::render_scene("rotation", {.size = {320, 240}, .frames = 6});
  parafield::FlowEstimator estimator(parafield::LucasKanade{.window = 15}, {320, 240});
  std::cout << "on " << to_string(estimator.device()) << '\n';
  for (const parafield::FrameBuffer& frame : video.frames)
    if (const parafield::FlowField* flow = estimator.push(frame))  // null for the first frame
      std::cout << "at the left edge: (" << flow->u(0, 120) << ", " << flow->v(0, 120) << ") px\n";
} catch (const parafield::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
