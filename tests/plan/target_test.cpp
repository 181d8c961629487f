#include "plan/target.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "fake_network.h"
#include "plan/passes.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("the CUDA target stores in the precision's type and pads pixels to 16 bytes") {
  struct Expected {
    Precision precision;
    DType storage;
    bool tf32;
    std::int64_t multiple;
  };
  for (const Expected& expected : {Expected{Precision::fp32, DType::f32, false, 4},
                                   Expected{Precision::tf32, DType::f32, true, 4},
                                   Expected{Precision::bf16, DType::bf16, false, 8},
                                   Expected{Precision::fp16, DType::f16, false, 8}}) {
    const Target target = cuda_target(expected.precision);
    CAPTURE(name_of(expected.precision));
    CHECK(target.storage == expected.storage);
    CHECK(target.tf32 == expected.tf32);
    CHECK(target.arithmetic() == DType::f32);
    CHECK(target.channel_multiple == expected.multiple);
    const Layout layout = target.map_layout({2, 11, 3, 5});
    CHECK(layout.padded_channels % expected.multiple == 0);
    CHECK(layout.padded_channels - 11 < expected.multiple);
    CHECK(layout == channels_last_layout({2, 11, 3, 5}, expected.multiple));
    CHECK(target.map_layout({2, 11}) == plain_layout({2, 11}));
  }
  CHECK_THROWS_AS(static_cast<void>(cuda_target(Precision::fp64)), Error);
}

TEST_CASE("the input of a CUDA plan has the layout of a map, that of a CPU plan is plain") {
  FakeNetwork network({4, 3, 8, 8});
  network(conv_like(), {0});
  const LaidOutGraph cuda = assign_layouts(network.graph, cuda_target(Precision::fp16));
  CHECK(cuda.layouts[cuda.renamed[0]] == channels_last_layout({4, 3, 8, 8}, 8));
  const LaidOutGraph cpu = assign_layouts(network.graph, cpu_target(true));
  CHECK(cpu.layouts[cpu.renamed[0]] == plain_layout({4, 3, 8, 8}));
}
