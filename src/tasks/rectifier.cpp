// SPDX-License-Identifier: MIT
#include "rectification/camera.hpp"
#include "steps/remap/remap.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

/// Implementation of a Rectifier, with the backend hidden.
class RectifierSession {
 public:
  virtual ~RectifierSession() = default;
  virtual const RectifiedPair& call(const Frame& left, const Frame& right) = 0;
  virtual Stream stream() const = 0;
  virtual void synchronize() = 0;
};

/// For each pixel of a rectified view, the position in the input image that it shows.
struct Tables {
  Image<float> x, y;
};

template <class Backend>
class RectifierOn final : public RectifierSession {
 public:
  RectifierOn(const Device& device, Stream stream, Size size, const Tables (&tables)[2])
      : device_(device), size_(size), backend_(device, stream) {
    for (std::size_t i = 0; i < 2; ++i)
      tables_[i] = {tables[i].x.to(backend_.memory()), tables[i].y.to(backend_.memory())};
  }

  const RectifiedPair& call(const Frame& left, const Frame& right) override {
    Frame frames[2] = {checked(left, "the left frame", size_, device_),
                       checked(right, "the right frame", size_, device_)};
    const bool on_host = frames[0].memory.on_host(), gray = channels(frames[0].format) == 1;
    if (frames[1].memory.on_host() != on_host)
      fail(ErrorCode::invalid_argument, "one frame is in host memory and one on a device");
    if ((channels(frames[1].format) == 1) != gray)
      fail(ErrorCode::invalid_argument, "the left frame is ", to_string(frames[0].format),
           ", the right one is ", to_string(frames[1].format), "; both should be gray, or both in color");
    const auto active = backend_.activate();
    const PixelFormat format = gray ? PixelFormat::gray_f32 : PixelFormat::rgb_f32;
    allocate(there_, format, backend_.memory());
    if constexpr (Backend::is_gpu) {
      if (on_host) {
        allocate(host_, format, Memory::pinned());
        for (std::size_t i = 0; i < 2; ++i) frames[i] = staged(backend_, frames[i], staging_[i]);
      }
    }
    FrameBuffer* const views[2] = {&there_.left, &there_.right};
    backend_.replay({}, [&] {
      for (std::size_t i = 0; i < 2; ++i)
        remap(backend_, {frames[i], std::as_const(tables_[i].x).view(), std::as_const(tables_[i].y).view(),
                         values(*views[i])});
    });
    RectifiedPair* result = &there_;
    if constexpr (Backend::is_gpu)
      if (on_host) {
        copy(there_.left, host_.left);
        copy(there_.right, host_.right);
        backend_.synchronize();
        result = &host_;
      }
    for (std::size_t i = 0; i < 2; ++i)  // without a range, the values still decide it
      (i == 0 ? result->left : result->right)
          .set_range(lacks_range(frames[i]) ? ValueRange{} : range_of(frames[i]));
    return *result;
  }

  Stream stream() const override { return backend_.stream(); }
  void synchronize() override {
    const auto active = backend_.activate();
    backend_.synchronize();
  }

 private:
  /// Returns a writable view of an f32 frame in any memory.
  static View<float> values(const FrameBuffer& buffer) {
    const View<const float> all = values_of<float>(buffer.frame());
    return {const_cast<float*>(all.data), all.width, all.height, all.pitch};
  }
  void allocate(RectifiedPair& pair, PixelFormat format, Memory memory) {
    if (pair.left.size() == size_ && pair.left.format() == format) return;
    backend_.synchronize();  // pending work may still write to the memory that is freed next
    for (FrameBuffer* view : {&pair.left, &pair.right}) *view = FrameBuffer(size_, format, memory);
  }
  void copy(const FrameBuffer& from, FrameBuffer& to) {
    const View<float> source = values(from), target = values(to);
    backend_.copy(target.data, target.pitch, source.data, source.pitch,
                  source.width * std::ptrdiff_t(sizeof(float)), source.height);
  }

  const Device device_;
  const Size size_;
  Backend backend_;
  Tables tables_[2];
  FrameBuffer staging_[2];
  RectifiedPair there_, host_;  // in the backend's memory; its copy in host memory (GPU only)
  const PendingWork<Backend> pending_work_{backend_};
};

}  // namespace

struct Rectifier::Impl {
  Rectification plan;
  RectifiedRegion region;
  std::unique_ptr<RectifierSession> session;
};

Rectifier::Rectifier(const StereoCalibration& calibration, Size size, const RectifierOptions& options) {
  with_errors([&] {
    const Rectification plan = plan_of(calibration, size, options);
    check_size(plan.size);
    const Device device = options.device ? *options.device : Device::best();
    Tables tables[2] = {{Image<float>(plan.size), Image<float>(plan.size)},
                        {Image<float>(plan.size), Image<float>(plan.size)}};
    RectifiedRegion region{Image<std::uint8_t>(plan.size), Image<std::uint8_t>(plan.size)};
    fill_tables(left_view(calibration, plan), tables[0].x, tables[0].y, region.left);
    fill_tables(right_view(calibration, plan), tables[1].x, tables[1].y, region.right);
    impl_ = std::make_unique<Impl>(Impl{plan, std::move(region), nullptr});
    impl_->session = with_backend(device, [&]<class Backend>() -> std::unique_ptr<RectifierSession> {
      return std::make_unique<RectifierOn<Backend>>(device, options.stream, plan.size, tables);
    });
  });
}
Rectifier::~Rectifier() = default;
Rectifier::Rectifier(Rectifier&&) noexcept = default;
Rectifier& Rectifier::operator=(Rectifier&&) noexcept = default;

const RectifiedPair& Rectifier::operator()(const In<Frame>& left, const In<Frame>& right) {
  return with_errors([&]() -> const RectifiedPair& { return impl_->session->call(left, right); });
}
const Rectification& Rectifier::plan() const { return impl_->plan; }
const RectifiedRegion& Rectifier::region() const { return impl_->region; }
Stream Rectifier::stream() const { return impl_->session->stream(); }
void Rectifier::synchronize() { impl_->session->synchronize(); }

}  // namespace parafield
