// SPDX-License-Identifier: MIT
#pragma once
// Colors of guarded planes on every target.
#include "steps/colors/color.hpp"
#include "steps/guarded.hpp"

namespace parafield {

/// Three planes as Colors. They stay on the host; CUDA gets packed pixels with a guard around, whose values
/// come back.
class GuardedColors : public Movable {
 public:
  /// `planes`: the first of three.
  explicit GuardedColors(Guarded* planes) : planes_(planes), packed_(packed_size()) {}

  void move(Memory memory) override {
    const bool packs = !memory.on_host();
    if (packs) for_each_value([](float& value, float& packed) { packed = value; });
    packed_.move(memory);
    if (is_packed_ && !packs) {
      for_each_value([](float& value, float& packed) { value = packed; });
      packed_.expect_intact_guard("colors");
    }
    is_packed_ = packs;
  }
  Colors view() {
    const View<float> packed = packed_.view();
    return {{planes_[0].view(), planes_[1].view(), planes_[2].view()},
            {reinterpret_cast<Color*>(packed.data), packed.width / 4, packed.height, packed.pitch}};
  }

 private:
  Size packed_size() const {
    const Size size = planes_->view().size();
    return {4 * size.width, size.height};
  }
  template <class F>
  void for_each_value(F f) {
    const View<float> packed = packed_.view();
    for (int channel = 0; channel < 3; ++channel) {
      const View<float> plane = planes_[channel].view();
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x) f(plane(x, y), packed(4 * x + channel, y));
    }
  }

  Guarded* planes_;
  Guarded packed_;
  bool is_packed_ = false;
};

}  // namespace parafield
