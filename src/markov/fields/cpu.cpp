#include "core/cpu/backend.hpp"
#include "markov/fields/fields.hpp"

namespace parafield {

template <>
void nearest_labels(Cpu& cpu, View<const float> u, View<const float> v, LabelGrid grid, View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x)
      labels(x, y) = grid.label(nearest_index(u(x, y), grid.x0, grid.nx),
                                v ? nearest_index(v(x, y), grid.y0, grid.ny) : 0);
  });
}

template <>
void label_values(Cpu& cpu, const Values& values, View<float> u, View<float> v, Trust trust) {
  cpu.rows(u.height, [=](int y) {
    for (int x = 0; x < u.width; ++x) store_value(values, u, v, trust, x, y);
  });
}

template <>
void change_costs(Cpu& cpu, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known) {
  const int width = change.frame0[0].width;
  cpu.rows(change.frame0[0].height, [=](int y) {
    for (int x = 0; x < width; ++x) store_change(change, costs, winners, known, x, y);
  });
}

template <>
void mask_of(Cpu& cpu, const MaskOf& from, View<std::uint8_t> moving, Trust trust) {
  cpu.rows(moving.height, [=](int y) {
    for (int x = 0; x < moving.width; ++x) store_mask(from, moving, trust, x, y);
  });
}

template <>
void labels_of_mask(Cpu& cpu, View<const std::uint8_t> mask, View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x) labels(x, y) = mask(x, y) != 0;
  });
}

}  // namespace parafield
