// SPDX-License-Identifier: MIT
#include "core/cuda/warp_reductions.cuh"
#include "markov/background/learn.hpp"
#include "markov/background/words.cuh"

// Minimum memory traffic per pixel, in bytes: 14 to load, which are the state and what the frame shows, 11 to
// store, and 2 to load and store for every fourth pixel, whose sample changes; in color 6 more to load, 4 more
// to store, and three samples instead of one. At 1920x1080 this is 53 MB (gray) and 76 MB (color), or 18 and
// 25 us at 3.0 TB/s. A thread loads all of it before it uses any, because it mostly waits for memory.
namespace parafield {
namespace {

/// Four bytes, or four 16-bit numbers, in words: the compiler would give each one a register.
struct FourBytes {
  std::uint32_t word;

  __device__ explicit FourBytes(const std::uint8_t* from) : word(word_at(from)) {}
  __device__ int operator[](int i) const { return byte_of(word, i); }
  __device__ void set(int i, int value) {
    word = __byte_perm(word, std::uint32_t(value), 0x3210u + ((4u - std::uint32_t(i)) << 4 * i));
  }
  __device__ void store(std::uint8_t* to) const { word_at(to) = word; }
};
template <class T>
struct FourHalves {
  struct alignas(8) Words {
    std::uint32_t of[2];
  } words;

  __device__ explicit FourHalves(const T* from) : words(*reinterpret_cast<const Words*>(from)) {}
  __device__ int operator[](int i) const { return T(words.of[i / 2] >> 16 * (i % 2)); }
  __device__ void set(int i, int value) {
    std::uint32_t& word = words.of[i / 2];
    word = __byte_perm(word, std::uint32_t(value), i % 2 ? 0x5410 : 0x3254);
  }
  __device__ void store(T* to) const { *reinterpret_cast<Words*>(to) = words; }
};

/// The state of four pixels, and what the frame shows of them.
struct FourMemories {
  FourBytes spread, candidate, support, flicker, before, luma, distance, apart;
  FourHalves<std::uint16_t> run, mean;
  FourHalves<std::int16_t> vote;

  __device__ FourMemories(const BackgroundRow& row, int x)
      : spread(row.spread() + x),
        candidate(row.candidate() + x),
        support(row.support() + x),
        flicker(row.flicker() + x),
        before(row.before() + x),
        luma(row.luma() + x),
        distance(row.distance() + x),
        apart(row.apart() + x),
        run(row.run() + x),
        mean(row.mean() + x),
        vote(row.next_vote() + x) {}

  __device__ Seen seen(int i, int label) const {
    return {luma[i], distance[i], label, apart[i] & is_apart, apart[i]};
  }
  __device__ PixelMemory memory(int i) const {
    return {spread[i], candidate[i], support[i], flicker[i], before[i], run[i], vote[i], mean[i]};
  }
  __device__ void set(int i, const PixelMemory& memory) {
    spread.set(i, memory.spread);
    candidate.set(i, memory.candidate);
    support.set(i, memory.support);
    flicker.set(i, memory.flicker);
    before.set(i, memory.before);
    run.set(i, memory.run);
    vote.set(i, memory.vote);
    mean.set(i, memory.mean);
  }
  __device__ void store(const BackgroundRow& row, int x) const {
    spread.store(row.spread() + x);
    candidate.store(row.candidate() + x);
    support.store(row.support() + x);
    flicker.store(row.flicker() + x);
    before.store(row.before() + x);
    run.store(row.run() + x);
    vote.store(row.vote() + x);
    mean.store(row.mean() + x);
  }
};

/// Mean colors of four pixels, and the frame's.
template <bool Colors>
struct FourMeans {
  FourBytes blue, red;
  FourHalves<std::uint16_t> mean_blue, mean_red;

  __device__ FourMeans(const BackgroundRow& row, int x)
      : blue(row.blue() + x),
        red(row.red() + x),
        mean_blue(row.mean_blue() + x),
        mean_red(row.mean_red() + x) {}

  __device__ void learn(int i, const Lesson& lesson, const Seen& seen, Replaced replaced) {
    const auto next = [&](FourHalves<std::uint16_t>& means, int value) {
      const int followed = follows_mean(lesson, seen) ? next_mean(means[i], value, lesson.rate) : means[i];
      means.set(i, replaced ? value * 256 : followed);
    };
    next(mean_blue, blue[i]);
    next(mean_red, red[i]);
  }
  __device__ void store(const BackgroundRow& row, int x) const {
    mean_blue.store(row.mean_blue() + x);
    mean_red.store(row.mean_red() + x);
  }
};
template <>
struct FourMeans<false> {
  __device__ FourMeans(const BackgroundRow&, int) {}
  __device__ void learn(int, const Lesson&, const Seen&, Replaced) {}
  __device__ void store(const BackgroundRow&, int) const {}
};

/// Lumas and chromas of four pixels. Chromas are 0 without colors.
struct FourValues {
  std::uint32_t luma = 0, blue = 0, red = 0;

  /// Those of the newest frame that begin `offset` px from x.
  __device__ void load_seen(const BackgroundRow& row, int x, int offset, int width, bool colors) {
    luma = word_beside(row.luma(), x, offset, width);
    if (!colors) return;
    blue = word_beside(row.blue_chroma(), x, offset, width);
    red = word_beside(row.red_chroma(), x, offset, width);
  }
  /// Those of sample k.
  __device__ void load_sample(const BackgroundRow& row, int k, int x, bool colors) {
    luma = word_at(row.sample(k) + x);
    if (!colors) return;
    blue = word_at(row.blue_sample(k) + x);
    red = word_at(row.red_sample(k) + x);
  }
  /// Takes the values of others where `mask` is 255; it is 0 elsewhere.
  __device__ void replace(const FourValues& other, std::uint32_t mask) {
    luma = chosen(other.luma, luma, mask);
    blue = chosen(other.blue, blue, mask);
    red = chosen(other.red, red, mask);
  }
  __device__ void store_sample(const BackgroundRow& row, int k, int x, bool colors) const {
    word_at(row.sample(k) + x) = luma;
    if (!colors) return;
    word_at(row.blue_sample(k) + x) = blue;
    word_at(row.red_sample(k) + x) = red;
  }

 private:
  __device__ static std::uint32_t chosen(std::uint32_t a, std::uint32_t b, std::uint32_t mask) {
    return (a & mask) | (b & ~mask);
  }
};

/// The neighbors of four pixels, which may give their values as samples.
struct FourGivers {
  FourValues values;
  std::uint32_t apart = 0, labels = 0, inside = 0;  // labels and inside: one bit for each pixel

  /// The four pixels that begin `to` from (x, y). Outside the image they give nothing.
  __device__ void load(const Background& background, const BinaryLabels& all, int x, int y, Offset to,
                       bool colors) {
    const Size size = background.size;
    if (y + to.y < 0 || y + to.y >= size.height) return;
    const BackgroundRow row = background.row(y + to.y);
    values.load_seen(row, x, to.x, size.width, colors);
    apart = word_beside(row.apart(), x, to.x, size.width);
    labels = six_labels(all, x, y + to.y, size) >> (1 + to.x);
    each_pixel([&](int i) { inside |= std::uint32_t(x + i + to.x >= 0 && x + i + to.x < size.width) << i; });
  }
  /// 255 for pixels that give their values.
  __device__ std::uint32_t mask() const {
    std::uint32_t mask = 0;
    each_pixel([&](int i) {
      if ((inside >> i & 1) &&
          gives_sample(int(labels >> i & 1), byte_of(apart, i) & is_apart, byte_of(values.luma, i)))
        put_byte(mask, i, 255);
    });
    return mask;
  }
};

template <bool Colors>
__device__ void learn_four(const Background& background, const Lesson& lesson, const BinaryLabels& labels,
                           std::uint32_t own_labels, FourMemories& memories, int x, int y) {
  static_assert(segment % pixels_of_thread == 0);
  const int width = background.size.width;
  const BackgroundRow row = background.row(y);
  const SegmentLesson own = segment_lesson(lesson, x / segment, y);
  FourMeans<Colors> means(row, x);
  FourValues now, own_sample, other_sample;
  FourGivers givers;
  if (own.own >= 0) {
    now.load_seen(row, x, 0, width, Colors);
    own_sample.load_sample(row, own.own, x, Colors);
  }
  if (own.other >= 0) {
    other_sample.load_sample(row, own.other, x, Colors);
    givers.load(background, labels, x, y, neighbor_offset(own.from), Colors);
  }
  std::uint32_t takes = 0, renews = 0, all = 0, half = 0;  // 255 for pixels whose samples are replaced
  each_pixel([&](int i) {
    const Seen seen = memories.seen(i, int(own_labels >> i & 1));
    if (seen.luma == no_luma) return;  // only the vote changes
    PixelMemory memory = memories.memory(i);
    const Replaced replaced = learn(lesson, seen, memory);
    memories.set(i, memory);
    means.learn(i, lesson, seen, replaced);
    if (replaced == all_replaced) put_byte(all, i, 255);
    if (replaced == half_replaced) put_byte(half, i, 255);
    const int takes_one = takes_sample(lesson.young, seen.label, seen.distance, memory.spread, seen.luma);
    if (takes_one) put_byte(takes, i, 255);
    if (renews_own(takes_one, lesson.young, seen.apart, memory.flicker)) put_byte(renews, i, 255);
  });
  memories.store(row, x);
  means.store(row, x);
  const auto replaces = [&](int k) { return own.half >> k & 1 ? all | half : all; };
  if ((all | half) != 0) {
    now.load_seen(row, x, 0, width, Colors);
    for (int k = 0; k < sample_count; ++k) {
      if (replaces(k) == 0) continue;
      FourValues sample;
      sample.load_sample(row, k, x, Colors);
      sample.replace(now, replaces(k));
      sample.store_sample(row, k, x, Colors);
    }
  }
  if (own.own >= 0) {
    own_sample.replace(now, replaces(own.own) | renews);
    own_sample.store_sample(row, own.own, x, Colors);
  }
  if (own.other >= 0) {
    if (own.other == own.own) other_sample = own_sample;
    other_sample.replace(now, replaces(own.other));
    other_sample.replace(givers.values, takes & givers.mask());
    other_sample.store_sample(row, own.other, x, Colors);
  }
}

__global__ void __launch_bounds__(256, 2)
    learn_kernel(const __grid_constant__ Background background, BinaryLabels labels) {
  begin_kernel();
  const int x = pixels_of_thread * own_x(), y = own_y();
  std::uint32_t own = 0;
  if (x < background.size.width && y < background.size.height) {
    own = four_labels(labels, x, y);
    if (background.frozen) {
      Four<std::uint8_t>& before = four_at(background.row(y).before() + x);
      each_pixel([&](int i) {
        before.of[i] = std::uint8_t((before.of[i] & ~was_moving) | (own >> i & 1 ? was_moving : 0));
      });
    } else {
      FourMemories memories(background.row(y), x);
      const Lesson lesson = lesson_of(background);
      if (lesson.colors)
        learn_four<true>(background, lesson, labels, own, memories, x, y);
      else
        learn_four<false>(background, lesson, labels, own, memories, x, y);
    }
  }
  const int count = sum_of_warp(__popc(own));
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + moving_count, count);
}

}  // namespace

template <class Backend>
void learn_background(Backend& cuda, const Background& background, const BinaryLabels& labels) {
  cuda.launch(learn_kernel, pixel_grid(background.size, pixels_of_thread), pixel_block, 0, background,
              labels);
}

PF_STEP(learn_background<Cuda>);

}  // namespace parafield
