// SPDX-License-Identifier: MIT
#include "common/launch.cuh"
#include "kim/kernels.hpp"

namespace parafield::bench {
namespace {

constexpr int block_width = 32, block_height = 8;

__constant__ Feature features[PaperKernels::most_features];
__constant__ Label labels[most_labels];
__constant__ float gauss_entries[LookUp::entries];
// 512 x 32 votes do not fit in addition to them. All lanes of a warp read the same vote, which the cache
// gives to all at once.
__device__ float votes[PaperKernels::most_features * most_labels];

struct Sizes {
  int features, labels;
};

struct Accurate {
  __device__ float operator()(float d) const { return expf(-d); }
};
struct OfDevice {
  __device__ float operator()(float d) const { return __expf(-d); }
};
struct Constant {
  __device__ float operator()(float d) const { return LookUp{gauss_entries}(d); }
};
struct Textured {
  cudaTextureObject_t texture;
  __device__ float operator()(float d) const {
    const int i = int(d * LookUp::steps + 0.5f);
    return i < LookUp::entries ? tex1Dfetch<float>(texture, i) : 0.0f;
  }
};

struct At {
  int x, y;
  bool inside;
};
__device__ At pixel_of(const Planes& frames) {
  const int x = int(blockIdx.x) * block_width + int(threadIdx.x),
            y = int(blockIdx.y) * block_height + int(threadIdx.y);
  return {x, y, x < frames.width && y < frames.height};
}

template <class Gauss>
__device__ void interpolate_pixel(const Planes& frames, Sizes sizes, const Spread& spread, float threshold,
                                  const Gauss& gauss, FlowAt* flow) {
  const At at = pixel_of(frames);
  if (!at.inside) return;
  flow[at.y * frames.width + at.x] =
      interpolated(frames, at.x, at.y, features, sizes.features, spread, threshold, gauss);
}

template <class Gauss>
__global__ void interpolate_kernel(Planes frames, Sizes sizes, Spread spread, float threshold, Gauss gauss,
                                   FlowAt* flow) {
  interpolate_pixel(frames, sizes, spread, threshold, gauss, flow);
}

__global__ void interpolate_by_shared_kernel(Planes frames, Sizes sizes, Spread spread, float threshold,
                                             const float* entries, FlowAt* flow) {
  __shared__ float table[LookUp::entries];
  for (int i = int(threadIdx.y) * block_width + int(threadIdx.x); i < LookUp::entries;
       i += block_width * block_height)
    table[i] = entries[i];
  __syncthreads();
  interpolate_pixel(frames, sizes, spread, threshold, LookUp{table}, flow);
}

__global__ void vote_by_label_kernel(Planes frames, Sizes sizes, Spread spread, float threshold,
                                     FlowAt* flow) {
  const At at = pixel_of(frames);
  if (!at.inside) return;
  flow[at.y * frames.width + at.x] = voted_by_label(frames, at.x, at.y, features, sizes.features, labels,
                                                    sizes.labels, spread, threshold, Accurate{});
}

__global__ void vote_by_product_kernel(Planes frames, Sizes sizes, Spread spread, float threshold,
                                       FlowAt* flow) {
  const At at = pixel_of(frames);
  if (!at.inside) return;
  flow[at.y * frames.width + at.x] = voted_by_product(frames, at.x, at.y, features, sizes.features, labels,
                                                      votes, sizes.labels, spread, threshold, Accurate{});
}

/// `from_label` and `from_pixel` are the distances, in floats, from one label's score to the next one's and
/// from pixel to pixel.
__global__ void score_kernel(Planes frames, Sizes sizes, Spread spread, int from_label, int from_pixel,
                             float* to) {
  const At at = pixel_of(frames);
  if (!at.inside) return;
  float scores[most_labels];
  score_by_product(frames, at.x, at.y, features, sizes.features, votes, sizes.labels, spread, Accurate{},
                   scores);
  const int pixel = at.y * frames.width + at.x;
  for (int k = 0; k < sizes.labels; ++k) to[k * from_label + pixel * from_pixel] = scores[k];
}

dim3 blocks_of(Size size) {
  return {blocks_for(size.width, block_width), blocks_for(size.height, block_height)};
}
const dim3 block(block_width, block_height);

template <class T>
void upload(const T& symbol, const void* from, std::size_t bytes) {
  check(cudaMemcpyToSymbol(symbol, from, bytes), "cudaMemcpyToSymbol");
  check(cudaDeviceSynchronize(),
        "cudaDeviceSynchronize");  // the streams used here do not wait for the legacy stream
}

}  // namespace

PaperKernels::PaperKernels(const std::vector<Problem>& problems)
    : size_(problems.front().size),
      features_(int(problems.front().features.size())),
      labels_(int(problems.front().labels.size())),
      spread_(problems.front().spread),
      threshold_(problems.front().threshold),
      flow_(std::size_t(size_.width) * std::size_t(size_.height)),
      table_(gauss_table()) {
  const Problem& first = problems.front();
  if (features_ > most_features || labels_ > most_labels)
    throw Error(ErrorCode::invalid_argument, "more features or labels than constant memory holds");
  upload(features, first.features.data(), first.features.size() * sizeof(Feature));
  upload(labels, first.labels.data(), first.labels.size() * sizeof(Label));
  upload(votes, first.votes.data(), first.votes.size() * sizeof(float));
  const std::vector<float> table = gauss_table();
  upload(gauss_entries, table.data(), table.size() * sizeof(float));
  for (const Problem& problem : problems)
    for (const std::vector<float>& channel : problem.pixels) pixels_.emplace_back(channel);

  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = table_.get();
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = table.size() * sizeof(float);
  cudaTextureDesc description{};
  description.readMode = cudaReadModeElementType;
  check(cudaCreateTextureObject(&texture_, &resource, &description, nullptr), "cudaCreateTextureObject");
}

PaperKernels::~PaperKernels() { cudaDestroyTextureObject(texture_); }

Planes PaperKernels::planes(int turn) const {
  Planes planes{{}, size_.width, size_.height};
  const std::size_t first = std::size_t(turn) % (pixels_.size() / 6) * 6;
  for (std::size_t i = 0; i < 6; ++i) planes.channel[i] = pixels_[first + i].get();
  return planes;
}

void PaperKernels::interpolate(cudaStream_t stream, int turn, Exponential exponential) const {
  const dim3 grid = blocks_of(size_);
  const Planes frames = planes(turn);
  const Sizes sizes{features_, labels_};
  const auto with = [&](auto gauss) {
    launch(interpolate_kernel<decltype(gauss)>, grid, block, 0, stream, frames, sizes, spread_, threshold_,
           gauss, flow_.get());
  };
  switch (exponential) {
    case Exponential::accurate:
      return with(Accurate{});
    case Exponential::device:
      return with(OfDevice{});
    case Exponential::constant:
      return with(Constant{});
    case Exponential::texture:
      return with(Textured{texture_});
    case Exponential::shared:
      return launch(interpolate_by_shared_kernel, grid, block, 0, stream, frames, sizes, spread_, threshold_,
                    table_.get(), flow_.get());
  }
}

void PaperKernels::vote(cudaStream_t stream, int turn, Form form) const {
  launch(form == Form::by_label ? vote_by_label_kernel : vote_by_product_kernel, blocks_of(size_), block, 0,
         stream, planes(turn), Sizes{features_, labels_}, spread_, threshold_, flow_.get());
}

void PaperKernels::score(cudaStream_t stream, int turn, Layout layout, float* scores) const {
  const bool by_label = layout == Layout::by_label;
  launch(score_kernel, blocks_of(size_), block, 0, stream, planes(turn), Sizes{features_, labels_}, spread_,
         by_label ? size_.width * size_.height : 1, by_label ? 1 : labels_, scores);
}

FlowField PaperKernels::flow() const {
  const std::vector<FlowAt> found =
      to_host(flow_.get(), std::size_t(size_.width) * std::size_t(size_.height));
  FlowField flow(size_);
  for (int y = 0; y < size_.height; ++y)
    for (int x = 0; x < size_.width; ++x) {
      const FlowAt& at = found[std::size_t(y * size_.width + x)];
      flow.u(x, y) = at.u, flow.v(x, y) = at.v, flow.valid(x, y) = at.valid;
    }
  return flow;
}

}  // namespace parafield::bench
