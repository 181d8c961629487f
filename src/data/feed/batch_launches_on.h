// Batch launches on one launcher: compiled for the CPU and, by nvcc, for GPUs.
#pragma once

#include <limits>

#include "base/error.h"
#include "data/feed/batch_launches.h"
#include "launcher/siblings.h"

namespace trainyard {

template <class Launcher>
class BatchLaunchesOn final : public BatchLaunches {
 public:
  explicit BatchLaunchesOn(const Launcher& launcher) : launcher_(launcher) {}

  void gather(const GatherSource& from, const TensorView& images,
              const CopyWords& words) const override {
    typename Launcher::Floats{}(images.type, [&]<class T>(std::type_identity<T>) {
      each_pixel(GatherBatch<T>{from, images.layout, images.as<T>()}, words);
    });
  }
  void copy(const CopyWords& words) const override { launcher_.each(words.count, words); }
  void run(const SampleProgram& program, std::int64_t n) const override {
    launcher_.rows(n, program);
  }
  void whiten(const WhitenBatch& whitening, std::int64_t n) const override {
    launcher_.each(n * whitening.elements, whitening);
  }
  void place(const float* samples, const PairMix* mixes, const TensorView& images,
             const CopyWords& words) const override {
    typename Launcher::Floats{}(images.type, [&]<class T>(std::type_identity<T>) {
      each_pixel(PlaceBatch<T>{samples, mixes, images.layout, images.as<T>()}, words);
    });
  }

 private:
  template <class F>
  void each_pixel(const F& f, const CopyWords& words) const {
    const auto& extent = f.layout.extent;
    const std::int64_t pixels = extent[0] * extent[2] * extent[3];
    TY_CHECK(pixels <= std::numeric_limits<std::uint32_t>::max(),
             "the pixels of a batch are counted in 32 bits");
    launcher_.each(pixels + words.count, InTurn<F, CopyWords>{f, pixels, words});
  }

  Launcher launcher_;
};

}  // namespace trainyard
