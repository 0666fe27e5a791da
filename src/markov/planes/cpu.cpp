// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "core/cpu/lanes.hpp"
#include "markov/planes/planes.hpp"

namespace parafield {
namespace {

void fill_row(std::uint32_t* row, int begin, int end, std::uint32_t value) {
  for (int x = begin; x < end; ++x) row[x] = value;
}

/// Computes the weights that messages of row y use, to the right (0) and down (1), from the plain weights.
void use_weights(const View<float>* plain, const View<float>& flatness, const View<float>* used, float growth,
                 int y) {
  const float *const flat = flatness.row(y), *const below = flatness.row(smaller(y + 1, flatness.height - 1));
  const float *const right = plain[0].row(y), *const down = plain[1].row(y);
  float *const used_right = used[0].row(y), *const used_down = used[1].row(y);
  const int last = flatness.width - 1;
#pragma GCC ivdep  // planes do not overlap
  for (int x = 0; x < last; ++x) used_right[x] = used_weight(right[x], flat[x], flat[x + 1], growth);
  used_right[last] = 0;
#pragma GCC ivdep
  for (int x = 0; x <= last; ++x) used_down[x] = used_weight(down[x], flat[x], below[x], growth);
}

/// Computes row y of a coarser level's weights: see mean_weight.
void mean_row(const View<float>& fine, int j, int y, CoarseEdges edges, const View<float>& coarse) {
  const int last_x = fine.width - 1, last_y = fine.height - 1;
  float* const out = coarse.row(y);
  int begin = 0;
  if (edges == CoarseEdges::kept && j == 0) {
    begin = larger(last_x - 1, 0) / 2;
    const float *const a = fine.row(2 * y), *const b = fine.row(smaller(2 * y + 1, last_y));
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < begin; ++x)
      out[x] = 0.5f * (smaller(a[2 * x + 1], smaller(a[2 * x], a[2 * x + 2])) +
                       smaller(b[2 * x + 1], smaller(b[2 * x], b[2 * x + 2])));
  } else if (edges == CoarseEdges::kept) {
    begin = fine.width / 2;
    const int own = smaller(2 * y + 1, last_y);
    const float *const here = fine.row(own), *const before = fine.row(larger(own - 1, 0)),
                       *const after = fine.row(own + 1 < last_y ? own + 1 : own);
#pragma GCC ivdep
    for (int x = 0; x < begin; ++x)
      out[x] = 0.5f * (smaller(here[2 * x], smaller(before[2 * x], after[2 * x])) +
                       smaller(here[2 * x + 1], smaller(before[2 * x + 1], after[2 * x + 1])));
  }
  for (int x = begin; x < coarse.width; ++x) out[x] = mean_weight(fine, j, x, y, edges);
}

}  // namespace

template <class Backend>
void central_differences(Backend& cpu, View<const float> image, View<float> derivative) {
  cpu.rows(image.height, [=](int y) {
    const float* const in = image.row(y);
    float* const out = derivative.row(y);
    const int last = image.width - 1;
    out[0] = 0.5f * (in[smaller(1, last)] - in[0]);
    for (int x = 1; x < last; ++x) out[x] = 0.5f * (in[x + 1] - in[x - 1]);
    if (last > 0) out[last] = 0.5f * (in[last] - in[last - 1]);
  });
}

template <class Backend>
void clean(Backend& cpu, const Planes* frames, const View<std::uint8_t>* known, int count) {
  for (int frame = 0; frame < count; ++frame)
    cpu.rows(known[frame].height, [floats = frames[frame], known = known[frame]](int y) {
      std::uint8_t* const flag = known.row(y);
      for (int x = 0; x < known.width; ++x) flag[x] = 1;
      for (int i = 0; i < floats.count; ++i) {
        float* const row = reinterpret_cast<float*>(floats.plane[i].row(y));
        for (int x = 0; x < known.width; ++x) {
          const bool finite = is_finite(row[x]);
          flag[x] = finite ? flag[x] : 0;
          row[x] = finite ? row[x] : 0.0f;
        }
      }
    });
}

template <class Backend>
void extend(Backend& cpu, const Planes* frames, int count, int columns, int rows, Padding padding) {
  const bool nearest = padding == Padding::nearest;
  for (int frame = 0; frame < count; ++frame) {
    const Planes planes = frames[frame];
    const int width = planes.plane[0].width, height = planes.plane[0].height;
    // Rows inside the image come first, because the rows above and below copy them.
    cpu.rows(height, [=](int y) {
      for (int i = 0; i < planes.count; ++i) {
        std::uint32_t* const row = planes.plane[i].row(y);
        fill_row(row, -columns, 0, nearest ? row[0] : planes.outside[i]);
        fill_row(row, width, width + columns, nearest ? row[width - 1] : planes.outside[i]);
      }
    });
    cpu.rows(2 * rows, [=](int j) {
      const int y = j < rows ? j - rows : height + j - rows;
      for (int i = 0; i < planes.count; ++i) {
        std::uint32_t* const row = planes.plane[i].row(y);
        const std::uint32_t* const from = planes.plane[i].row(clamp(y, 0, height - 1));
        if (nearest)
          for (int x = -columns; x < width + columns; ++x) row[x] = from[x];
        else
          fill_row(row, -columns, width + columns, planes.outside[i]);
      }
    });
  }
}

template <class Backend>
void edge_weights(Backend& cpu, const View<const float> (&planes)[3], float scale, float floor,
                  const EdgeWeights& edges) {
  const View<const float> first = planes[0], second = planes[1], third = planes[2];
  const EdgeWeights to = edges;
  cpu.rows(first.height, [=](int y) {
    for (int j = 0; j < 4; ++j) {
      if (!to.forward[j]) continue;
      const Offset offset = forward_offset(j);
      float* const out = to.forward[j].row(y);
      const int begin = offset.x < 0 ? 1 : 0, end = first.width - (offset.x > 0 ? 1 : 0);
      for (int x = 0; x < first.width; ++x) out[x] = 0;
      if (y + offset.y >= first.height) continue;
      const float *a0 = first.row(y), *a1 = second.row(y), *a2 = third.row(y);
      const float *b0 = first.row(y + offset.y) + offset.x, *b1 = second.row(y + offset.y) + offset.x,
                  *b2 = third.row(y + offset.y) + offset.x;
      for (int x = begin; x < end; ++x)
        out[x] = edge_weight({a0[x], a1[x], a2[x]}, {b0[x], b1[x], b2[x]}, scale, floor);
    }
    if (to.flatness) use_weights(to.forward, to.flatness, to.used, growth_of(0), y);
  });
}

template <class Backend>
void mean_weights(Backend& cpu, const LevelWeights& fine, const LevelWeights& coarse, int level,
                  CoarseEdges edges, View<std::uint32_t> color) {
  const Size size = coarse.plain[0] ? coarse.plain[0].size() : color.size();
  const int width = size.width, height = size.height;
  cpu.rows(height, [=](int y) {
    for (int j = 0; j < 2 && coarse.plain[0]; ++j) mean_row(fine.plain[j], j, y, edges, coarse.plain[j]);
    for (int x = 0; x < width && color; ++x) color(x, y) = mean_color(fine.color, x, y);
    if (!coarse.flatness) return;
    for (int x = 0; x < width; ++x) coarse.flatness(x, y) = least_flatness(fine.flatness, x, y);
  });
  if (!coarse.flatness) return;
  cpu.rows(height,
           [=](int y) { use_weights(coarse.plain, coarse.flatness, coarse.used, growth_of(level), y); });
}

template <class Backend>
void convert_known(Backend& cpu, const Frame* frames, const KnownPlanes* to, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const KnownPlanes planes = to[i];
      cpu.rows(frame.height, [=](int y) {
        const Sample* const in = row_of<Sample>(frame, y);
        const bool colors = bool(planes.color[0]);
        float *const luma = planes.luma.row(y), *const red = colors ? planes.color[0].row(y) : luma,
                     *const green = colors ? planes.color[1].row(y) : luma,
                     *const blue = colors ? planes.color[2].row(y) : luma;
        std::uint8_t* const known = planes.known.row(y);
        const int width = frame.width;
        for (int x = 0; x < width; ++x) known[x] = 1;
        int begin = 0;
        if constexpr (std::is_same_v<Sample, unsigned char> && Channels == 3)
          for (; colors && begin + 16 <= width; begin += 16) {
            std::uint8_t apart[3][16];
            take_channels_apart(in + 3 * begin, apart);
#pragma GCC ivdep  // planes do not overlap
            for (int i = 0; i < 16; ++i) {
              const float of_red = float(apart[Red][i]), of_green = float(apart[1][i]),
                          of_blue = float(apart[2 - Red][i]);
              luma[begin + i] = luma_of(of_red, of_green, of_blue, scale);
              red[begin + i] = scale(of_red);
              green[begin + i] = scale(of_green);
              blue[begin + i] = scale(of_blue);
            }
          }
        if (colors)
          for (int x = begin; x < width; ++x) {
            luma[x] = luma_of(in, x, Channels, Red, scale);
            red[x] = channel_of(in, x, 0, Channels, Red, scale);
            green[x] = channel_of(in, x, 1, Channels, Red, scale);
            blue[x] = channel_of(in, x, 2, Channels, Red, scale);
          }
        else
          for (int x = 0; x < width; ++x) luma[x] = luma_of(in, x, Channels, Red, scale);
        if constexpr (std::is_same_v<Sample, float>)
          for (float* const row : {luma, red, green, blue})
            for (int x = 0; x < width; ++x) {
              const bool finite = is_finite(row[x]);
              known[x] = finite ? known[x] : 0;
              row[x] = finite ? row[x] : 0.0f;
            }
      });
    });
}

PF_STEP(convert_known<Cpu>);
PF_STEP(central_differences<Cpu>);
PF_STEP(clean<Cpu>);
PF_STEP(extend<Cpu>);
PF_STEP(edge_weights<Cpu>);
PF_STEP(mean_weights<Cpu>);

}  // namespace parafield
