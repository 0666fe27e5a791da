#include "parafield/stereo.hpp"

#include "markov/disparity.hpp"
#include "tasks/estimator.hpp"
#include "tasks/refined.hpp"

namespace parafield {

template <class Copy>
void copy_planes(const DisparityField& from, DisparityField& to, Copy copy) {
  copy(from.d, to.d);
  copy(from.valid, to.valid);
  copy(from.confidence, to.confidence);
}
template <class Copy>
void copy_start(const DisparityView& from, DisparityField& to, Copy copy) {
  copy(from.d, to.d);
}

DisparityField DisparityField::to(Memory memory) const {
  DisparityField result;
  copy_planes(*this, result, [&](const auto& from, auto& to) { to = from.to(memory); });
  return result;
}

/// A disparity that no pixel can have is a mistake.
static void check_disparities(const StereoEnergy& energy, Size size) {
  const int least = energy.min_disparity, most = least + energy.disparities - 1;
  if (least <= -size.width || most >= size.width)
    fail(ErrorCode::invalid_argument, "disparities from ", least, " to ", most, " do not fit into images ",
         size.width, " px wide: they lie between ", 1 - size.width, " and ", size.width - 1);
}

template <>
std::unique_ptr<Session<Stereo>> make_session<Stereo>(const StereoMethod& method, Size size,
                                                      const Device& device, Stream stream,
                                                      const StereoOptions& options) {
  check(options);
  return std::visit(
      [&](const auto& chosen) {
        check_disparities(chosen.energy, size);
        return with_backend(device, [&]<class Backend>() -> std::unique_ptr<Session<Stereo>> {
          return std::make_unique<SolverSession<Stereo, Backend, RefinedDisparities<DisparitySolver>::Type>>(
              chosen, size, device, stream, options);
        });
      },
      method);
}

template class Estimator<Stereo>;

DisparityField estimate_disparity(const Frame& left, const Frame& right, const StereoMethod& method,
                                  const Device& device, const StereoOptions& options) {
  StereoEstimator estimator(method, left.size(), device, {}, options);
  const DisparityField& field = estimator(left, right);
  estimator.synchronize();
  return field.to(field.memory());
}

}  // namespace parafield
