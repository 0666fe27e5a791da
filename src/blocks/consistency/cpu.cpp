#include "blocks/consistency/consistency.hpp"
#include "core/cpu/backend.hpp"

namespace parafield {

template <>
void check_consistency(Cpu& cpu, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  const int width = valid.width, height = valid.height;
  const int pitch = int(backward.u.pitch / std::ptrdiff_t(sizeof(float)));
  cpu.rows(height, [=](int y) {
    const float *u = forward.u.row(y), *v = forward.v.row(y), *back_u = backward.u.data,
                *back_v = backward.v.data;
    std::uint8_t* out = valid.row(y);
    for (int x = 0; x < width; ++x)
      out[x] = out[x] & is_consistent(u[x], v[x], back_u, back_v, pitch, width, height, x, y, tolerance);
  });
}

}  // namespace parafield
