// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "core/cpu/lanes.hpp"
#include "steps/sharpen/sharpen.hpp"

// Pixels of a row are filtered in groups as wide as a register. For each of its 49 samples, a group needs 25
// operations to compute the weight, then 3 for u and 3 for v each time the range of values is halved. With
// about 12 halvings, this makes 4800 operations.
namespace parafield {
namespace {

constexpr int group = lanes / 2;
typedef int Ints __attribute__((vector_size(sizeof(int) * group)));

/// Marks the boundary cells in a row of cells.
void mark_boundaries(const Sharpening& s, int row) {
  constexpr int chunk = 256;
  int changed[chunk];  // same width as the floats it is computed from, which lets the loop vectorize
  std::uint8_t* const cells = s.boundaries.row(row);
  const int width = s.flow.u.width, height = s.flow.u.height;
  for (int i = 0; i < s.boundaries.width; ++i) cells[i] = 0;
  for (int y = row * boundary_cell; y < smaller((row + 1) * boundary_cell, height); ++y) {
    const int up = larger(y - 1, 0), down = smaller(y + 1, height - 1);
    const float *const u = s.flow.u.row(y), *const u_up = s.flow.u.row(up),
                       *const u_down = s.flow.u.row(down), *const v = s.flow.v.row(y),
                       *const v_up = s.flow.v.row(up), *const v_down = s.flow.v.row(down);
    const auto changes_at = [=](int x, int left, int right) {
      return changes(u[left], u[right]) | changes(v[left], v[right]) | changes(u_up[x], u_down[x]) |
             changes(v_up[x], v_down[x]);
    };
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0), inner = smaller(count, width - 1 - x0);
      for (int i = x0 == 0 ? 1 : 0; i < inner; ++i) changed[i] = changes_at(x0 + i, x0 + i - 1, x0 + i + 1);
      if (x0 == 0) changed[0] = changes_at(0, 0, smaller(1, width - 1));
      if (inner < count) changed[inner] = changes_at(width - 1, larger(width - 2, 0), width - 1);
      for (int i = 0; i < count; ++i) cells[(x0 + i) / boundary_cell] |= std::uint8_t(changed[i]);
    }
  }
}

/// Whether a median at one of `count` pixels from x on in row y, or at most `sharpen_reach` away, will be
/// taken.
bool is_sampled(View<const std::uint8_t> boundaries, int x, int count, int y) {
  const int left = larger(x - sharpen_reach, 0) / boundary_cell,
            right = smaller((x + count - 1 + sharpen_reach) / boundary_cell, boundaries.width - 1),
            top = larger(y - sharpen_reach, 0) / boundary_cell,
            bottom = smaller((y + sharpen_reach) / boundary_cell, boundaries.height - 1);
  int any = 0;
  for (int row = top; row <= bottom; ++row)
    for (int column = left; column <= right; ++column) any |= boundaries(column, row);
  return any != 0;
}

/// Computes the trust of row y where a median will read it.
void find_trust(const Sharpening& s, int y) {
  const float *const u = s.flow.u.row(y), *const v = s.flow.v.row(y);
  float* const trust = s.trust.row(y);
  const ColorPlanes from = planes_of(s.colors[0]), to = planes_of(s.colors[1]);
  const int width = from.width, height = from.height, pitch = int(s.back.u.stride());
  const float *const back_u = s.back.u.data, *const back_v = s.back.v.data;
  const auto find = [&](auto miss_at) {
    constexpr int chunk = 64;
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      if (!is_sampled(s.boundaries, x0, count, y)) continue;
      for (int x = x0; x < x0 + count; ++x) {
        const Match match = locate(float(x) + u[x], float(y) + v[x], width, height);
        trust[x] = trust_of(color_at(from, x, y), color_at(to, match), miss_at(x, match));
      }
    }
  };
  if (s.back.u)
    find([=](int x, const Match& match) {
      return miss_of(u[x], v[x], back_u, back_v, pitch, width, height, match);
    });
  else
    find([](int, const Match&) { return 0.0f; });
}

/// Values of a row from 9 px before the group at x to 9 px after it; `outside` where there is no pixel.
class Row {
 public:
  Row(const View<float>& plane, int x, int y, float outside) {
    const float* const row = plane.row(y);
    const int first = x - sharpen_reach;
    values_ = row + first;
    if (first >= 0 && first + count <= plane.width) return;
    for (int i = 0; i < count; ++i)
      copy_[i] = first + i >= 0 && first + i < plane.width ? row[first + i] : outside;
    values_ = copy_;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  /// The values `dx` px to the right of the group.
  const float* at(int dx) const { return values_ + sharpen_reach + dx; }

 private:
  static constexpr int count = group + 2 * sharpen_reach;
  const float* values_;
  float copy_[count];
};

/// Samples of a group of pixels.
struct SharpSamples {
  Ints u[sharpen_samples], v[sharpen_samples], weight[sharpen_samples];
  int count = 0;
};

void take_samples(const Sharpening& s, int x, int y, SharpSamples& samples) {
  float red[group], green[group], blue[group];
  {
    const Row own[] = {
        {s.colors[0].plane[0], x, y, 0}, {s.colors[0].plane[1], x, y, 0}, {s.colors[0].plane[2], x, y, 0}};
    for (int i = 0; i < group; ++i)
      red[i] = own[0].at(0)[i], green[i] = own[1].at(0)[i], blue[i] = own[2].at(0)[i];
  }
  int count = 0;
  for (int dy = -sharpen_reach; dy <= sharpen_reach; dy += sharpen_step) {
    if (y + dy < 0 || y + dy >= s.flow.u.height) continue;
    const Row reds(s.colors[0].plane[0], x, y + dy, 0), greens(s.colors[0].plane[1], x, y + dy, 0),
        blues(s.colors[0].plane[2], x, y + dy, 0), trusts(s.trust, x, y + dy, 0), us(s.flow.u, x, y + dy, 0),
        vs(s.flow.v, x, y + dy, 0);
    for (int dx = -sharpen_reach; dx <= sharpen_reach; dx += sharpen_step, ++count) {
      const float *const r = reds.at(dx), *const g = greens.at(dx), *const b = blues.at(dx),
                         *const trust = trusts.at(dx), *const u = us.at(dx), *const v = vs.at(dx);
      const int square = dx * dx + dy * dy;
      alignas(64) int weight[group], units_u[group], units_v[group];
      for (int i = 0; i < group; ++i) {
        weight[i] = sample_weight(largest_difference(r[i] - red[i], g[i] - green[i], b[i] - blue[i]), square,
                                  trust[i]);
        units_u[i] = units_of(u[i]);
        units_v[i] = units_of(v[i]);
      }
      std::memcpy(&samples.weight[count], weight, sizeof weight);
      std::memcpy(&samples.u[count], units_u, sizeof units_u);
      std::memcpy(&samples.v[count], units_v, sizeof units_v);
    }
  }
  samples.count = count;
}

bool any(const Ints& values) {
  int all = 0;
  for (int i = 0; i < group; ++i) all |= values[i];
  return all != 0;
}

/// For each lane, the smallest value for which the total weight of all values up to it is at least half of
/// the whole.
Ints weighted_median(const Ints* values, const Ints* weights, int count) {
  Ints low = values[0], high = values[0], all{};
  for (int i = 0; i < count; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
    all += weights[i];
  }
  while (any(low < high)) {
    const Ints middle = (low + high) >> 1;
    Ints sum{};
    for (int i = 0; i < count; ++i) sum += (values[i] <= middle) & weights[i];
    const Ints is_enough = sum + sum >= all;
    high = is_enough ? middle : high;
    low = is_enough ? low : middle + 1;
  }
  return low;
}

void sharpen_row(const Sharpening& s, int y) {
  const int width = s.flow.u.width;
  const float *const u = s.flow.u.row(y), *const v = s.flow.v.row(y);
  float *const to_u = s.sharpened.u.row(y), *const to_v = s.sharpened.v.row(y);
  for (int x = 0; x < width; x += group) {
    bool in_cell[group / boundary_cell], any_cell = false;
    for (int i = 0; i < group / boundary_cell; ++i) {
      const int column = x / boundary_cell + i;
      in_cell[i] = column < s.boundaries.width && s.boundaries(column, y / boundary_cell) != 0;
      any_cell |= in_cell[i];
    }
    const int count = smaller(group, width - x);
    Ints median_u{}, median_v{};
    if (any_cell) {
      SharpSamples samples;
      take_samples(s, x, y, samples);
      median_u = weighted_median(samples.u, samples.weight, samples.count);
      median_v = weighted_median(samples.v, samples.weight, samples.count);
    }
    for (int i = 0; i < count; ++i) {
      const bool takes = in_cell[i / boundary_cell];
      to_u[x + i] = takes ? flow_of(median_u[i]) : u[x + i];
      to_v[x + i] = takes ? flow_of(median_v[i]) : v[x + i];
    }
  }
}

}  // namespace

template <class Backend>
void sharpen_flow(Backend& cpu, const Sharpening& sharpening) {
  convert_color(cpu, sharpening.kept.frames[sharpening.from], sharpening.colors[0].plane);
  convert_color(cpu, sharpening.kept.frames[sharpening.to], sharpening.colors[1].plane);
  cpu.rows(sharpening.boundaries.height, [=](int row) { mark_boundaries(sharpening, row); });
  cpu.rows(sharpening.trust.height, [=](int y) { find_trust(sharpening, y); });
  cpu.rows(sharpening.trust.height, [=](int y) { sharpen_row(sharpening, y); });
}

PF_STEP(sharpen_flow<Cpu>);

}  // namespace parafield
