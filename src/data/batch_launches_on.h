// Batch launches on one launcher: compiled for the CPU and, by nvcc, for GPUs.
#pragma once

#include "data/batch_launches.h"

namespace trainyard {

template <class Launcher>
class BatchLaunchesOn final : public BatchLaunches {
 public:
  explicit BatchLaunchesOn(const Launcher& launcher) : launcher_(launcher) {}

  void gather(const GatherSource& from, const TensorView& images) const override {
    const auto& extent = images.layout.extent;
    typename Launcher::Floats{}(images.type, [&]<class T>(std::type_identity<T>) {
      launcher_.each(extent[0] * extent[2] * extent[3],
                     GatherBatch<T>{from, images.layout, images.as<T>()});
    });
  }
  void run(const SampleProgram& program, std::int64_t n) const override {
    launcher_.rows(n, program);
  }
  void whiten(const WhitenBatch& whitening, std::int64_t n) const override {
    launcher_.each(n * whitening.elements, whitening);
  }
  void place(const float* samples, const TensorView& images) const override {
    const auto& extent = images.layout.extent;
    typename Launcher::Floats{}(images.type, [&]<class T>(std::type_identity<T>) {
      launcher_.each(extent[0] * extent[2] * extent[3],
                     PlaceBatch<T>{samples, images.layout, images.as<T>()});
    });
  }

 private:
  Launcher launcher_;
};

}  // namespace trainyard
