// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/average/average.hpp"

namespace parafield {

template <class Backend>
void find_changes(Backend& cpu, const AveragedPlanes* frames, const View<float>* changes, int count) {
  for (int i = 0; i < count; ++i)
    cpu.rows(changes[i].height, [=, frame = frames[i], change = changes[i]](int y) {
      const float *const fresh = frame.fresh[0].row(y), *const mean = frame.mean[0].row(y);
      float* const to = change.row(y);
      for (int x = 0; x < change.width; ++x) to[x] = magnitude(fresh[x] - mean[x]);
    });
}

template <class Backend>
void average(Backend& cpu, const AveragedPlanes* frames, const View<float>* changes, float noise, int count) {
  const float same = same_below * noise, other = other_above * noise;
  for (int i = 0; i < count; ++i)
    cpu.rows(changes[i].height, [=, frame = frames[i], change = changes[i]](int y) {
      const float* const changed = change.row(y);
      float* const counts = frame.count.row(y);
      for (int x = 0; x < change.width; ++x) counts[x] = averaged_frames(counts[x], changed[x], same, other);
      for (int j = 0; j < frame.planes; ++j) {
        const float* const fresh = frame.fresh[j].row(y);
        float* const mean = frame.mean[j].row(y);
        for (int x = 0; x < change.width; ++x) mean[x] = averaged(mean[x], fresh[x], counts[x]);
      }
    });
}

template <class Backend>
void begin_average(Backend& cpu, const View<float>* counts, int count) {
  for (int i = 0; i < count; ++i)
    cpu.rows(counts[i].height, [plane = counts[i]](int y) {
      float* const to = plane.row(y);
      for (int x = 0; x < plane.width; ++x) to[x] = 1;
    });
}

PF_STEP(find_changes<Cpu>);
PF_STEP(average<Cpu>);
PF_STEP(begin_average<Cpu>);

}  // namespace parafield
