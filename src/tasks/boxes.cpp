// SPDX-License-Identifier: MIT
#include "parafield/boxes.hpp"

#include <algorithm>

#include "steps/boxes/boxes.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

/// Implementation of a BoxFinder, with the backend hidden.
class BoxSession {
 public:
  virtual ~BoxSession() = default;
  virtual std::span<const Box> call(const Image<std::uint8_t>& mask) = 0;
};

template <class Backend>
class BoxesOn final : public BoxSession {
 public:
  BoxesOn(const Device& device, Size size, const BoxOptions& options)
      : device_(device),
        size_(size),
        min_area_(options.min_area),
        backend_(device, options.stream),
        workspace_(backend_.memory()),
        most_(most_regions(size, options.min_area)) {
    if constexpr (Backend::is_gpu) {
      const std::size_t pixels = std::size_t(size.width) * std::size_t(size.height);
      scratch_ = workspace_.array<int>(planes_of_regions * pixels);
      auto* const block = workspace_.array<std::byte>(bytes_of(most_));
      list_ = {reinterpret_cast<int*>(block), reinterpret_cast<Region*>(block + header)};
      host_ = Image<std::uint8_t>(Size{int(bytes_of(first())), 1}, Memory::pinned());
    }
  }

  std::span<const Box> call(const Image<std::uint8_t>& mask) override {
    const View<const std::uint8_t> view = mask;
    Frame frame = checked({.data = view.data,
                           .width = view.width,
                           .height = view.height,
                           .pitch = view.pitch,
                           .memory = mask.memory()},
                          "the mask", size_, device_);
    const auto active = backend_.activate();
    if constexpr (Backend::is_gpu)
      if (frame.memory.on_host()) frame = staged(backend_, frame, staging_);
    const View<const std::uint8_t> there{static_cast<const std::uint8_t*>(frame.data), frame.width,
                                         frame.height, frame.pitch};
    if constexpr (!Backend::is_gpu) reserve(count_runs(there));
    backend_.replay({}, [&] { find_regions(backend_, there, min_area_, scratch_, list_); });
    const std::span<const Region> regions = on_host();
    boxes_.clear();
    for (const Region& region : regions)
      boxes_.push_back({region.left, region.top, region.right - region.left + 1,
                        region.bottom - region.top + 1, region.area});
    return boxes_;
  }

 private:
  static constexpr std::size_t header = 32;  // bytes; the header contains the number of regions

  static std::size_t bytes_of(int regions) { return header + std::size_t(regions) * sizeof(Region); }
  /// Number of regions that are downloaded in the same copy as the count.
  int first() const { return std::min(most_, 1000); }

  /// Allocates host memory for `runs` runs if there is not enough yet.
  void reserve(std::size_t runs) {
    if (runs * ints_of_run > runs_.size()) runs_.resize(runs * ints_of_run);
    found_.resize(std::min(runs, std::size_t(most_)));
    scratch_ = runs_.data();
    list_ = {&count_, found_.data()};
  }

  /// Returns the regions in host memory, sorted by their first pixels.
  std::span<const Region> on_host() {
    if constexpr (!Backend::is_gpu) return {found_.data(), std::size_t(count_)};
    std::uint8_t* const bytes = host_.view().data;
    copy_to_host(backend_, bytes, list_.count, bytes_of(first()));
    const int count = *reinterpret_cast<const int*>(bytes), here = std::min(count, first());
    const auto* const regions = reinterpret_cast<const Region*>(bytes + header);
    found_.assign(regions, regions + here);
    if (count > here) {
      found_.resize(std::size_t(count));
      copy_to_host(backend_, found_.data() + here, list_.regions + here,
                   std::size_t(count - here) * sizeof(Region));
    }
    std::ranges::sort(found_, {}, &Region::first);
    return found_;
  }

  const Device device_;
  const Size size_;
  const int min_area_;
  Backend backend_;
  Workspace workspace_;
  const int most_;
  int* scratch_ = nullptr;
  RegionList list_{};
  FrameBuffer staging_;
  Image<std::uint8_t> host_;  // GPU only: download buffer for the count and the first regions
  std::vector<int> runs_;     // CPU only: scratch memory
  int count_ = 0;             // CPU only: number of regions
  std::vector<Region> found_;
  std::vector<Box> boxes_;
  const PendingWork<Backend> pending_work_{backend_};
};

}  // namespace

struct BoxFinder::Impl {
  std::unique_ptr<BoxSession> session;
};

BoxFinder::BoxFinder(Size size, const BoxOptions& options) {
  with_errors([&] {
    check_size(size);
    if (options.min_area < 1)
      fail(ErrorCode::invalid_argument, "min_area cannot be ", options.min_area, "; it is at least 1 px");
    const Device device = options.device ? *options.device : Device::best();
    impl_ = std::make_unique<Impl>();
    impl_->session = with_backend(device, [&]<class Backend>() -> std::unique_ptr<BoxSession> {
      return std::make_unique<BoxesOn<Backend>>(device, size, options);
    });
  });
}
BoxFinder::~BoxFinder() = default;
BoxFinder::BoxFinder(BoxFinder&&) noexcept = default;
BoxFinder& BoxFinder::operator=(BoxFinder&&) noexcept = default;

std::span<const Box> BoxFinder::operator()(const Image<std::uint8_t>& mask) {
  return with_errors([&] { return impl_->session->call(mask); });
}

std::vector<Box> find_boxes(const Image<std::uint8_t>& mask, const BoxOptions& options) {
  BoxOptions chosen = options;
  if (!chosen.device)
    chosen.device = mask.memory().on_host() ? Device::cpu(1) : Device::cuda(mask.memory().device);
  BoxFinder finder(mask.size(), chosen);
  const std::span<const Box> boxes = finder(mask);
  return {boxes.begin(), boxes.end()};
}

}  // namespace parafield
