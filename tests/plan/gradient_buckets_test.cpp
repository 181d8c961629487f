// Gradient buckets: where they begin, and the step after which nothing writes to them.
#include <doctest/doctest.h>

#include "fake_network.h"
#include "plan/blocks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr std::int64_t kEntry = 128;  // elements of a conv's 100 in the block
constexpr std::size_t kBytes = 4;

FakeNetwork chain_of(int convs) {
  FakeNetwork network({2, 4});
  ValueId value = 0;
  for (int i = 0; i < convs; ++i) value = network(conv_like(), {value});
  return network;
}

/// Sizes in entries of the block.
BucketBytes entries(std::size_t single, std::size_t full, std::size_t last) {
  const std::size_t entry = kEntry * kBytes;
  return {.single = single * entry, .full = full * entry, .last = last * entry};
}

std::vector<GradientBucket> buckets_of(const Plan& plan, const BucketBytes& sizes) {
  return cut_gradient_buckets(plan, lay_out_blocks(plan.laid_out.graph), kBytes, sizes);
}

/// Each bucket: its entries, and the last step before its all-reduce.
std::vector<std::pair<std::int64_t, std::string>> described(
    const Plan& plan, const std::vector<GradientBucket>& buckets) {
  std::vector<std::pair<std::int64_t, std::string>> list;
  std::int64_t next = 0;
  for (const GradientBucket& bucket : buckets) {
    CHECK(bucket.first == next);
    next += bucket.count;
    list.emplace_back(bucket.count / kEntry, name_of(plan, plan.steps.at(bucket.steps - 1)));
  }
  CHECK(next == lay_out_blocks(plan.laid_out.graph).gradient_elements());
  return list;
}

using Described = std::vector<std::pair<std::int64_t, std::string>>;

}  // namespace

TEST_CASE("buckets are full except the last, and are all-reduced after their last gradient") {
  FakeNetwork network = chain_of(7);
  const Plan plan = training_plan(network);
  CHECK(described(plan, buckets_of(plan, entries(3, 2, 1))) ==
        Described{{2, "conv6 backward_parameters"},
                  {2, "conv4 backward_parameters"},
                  {2, "conv2 backward_parameters"},
                  {1, "conv1 backward_parameters"}});
  CHECK(described(plan, buckets_of(plan, entries(3, 4, 2))) ==
        Described{{4, "conv4 backward_parameters"},
                  {1, "conv3 backward_parameters"},
                  {2, "conv1 backward_parameters"}});
}

TEST_CASE("a block below the single-bucket size is one bucket, a block of that size is not") {
  FakeNetwork network = chain_of(3);
  const Plan plan = training_plan(network);
  const GradientBucket whole{.count = 3 * kEntry, .steps = plan.steps.size()};
  CHECK(buckets_of(plan, entries(4, 1, 1)) == std::vector{whole});
  CHECK(buckets_of(plan, entries(3, 1, 1)).size() == 3);
  CHECK(buckets_of(plan, bucket_bytes(3 * kEntry * kBytes)) == std::vector{whole});
}

TEST_CASE("the size of a full bucket follows from the block's, between latency's and PyTorch's") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  const auto sizes = [](std::size_t full) {
    return BucketBytes{.single = 4 * kMiB, .full = full, .last = kMiB};
  };
  CHECK(bucket_bytes(0) == sizes(4 * kMiB));
  CHECK(bucket_bytes(16 * kMiB) == sizes(4 * kMiB));
  CHECK(bucket_bytes(40 * kMiB) == sizes(10 * kMiB));
  CHECK(bucket_bytes(100 * kMiB) == sizes(25 * kMiB));
  CHECK(bucket_bytes(5000 * kMiB) == sizes(25 * kMiB));
}

TEST_CASE(
    "three quarters of a middling block are all-reduced before the last gradients are there") {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  FakeNetwork network = chain_of(16);
  const Plan plan = training_plan(network);
  // As if an entry had 512 KiB: a block of 8 MiB.
  const auto buckets = cut_gradient_buckets(plan, lay_out_blocks(plan.laid_out.graph),
                                            kMiB / 2 / kEntry, bucket_bytes(8 * kMiB));
  CHECK(described(plan, buckets) == Described{{8, "conv9 backward_parameters"},
                                              {6, "conv3 backward_parameters"},
                                              {2, "conv1 backward_parameters"}});
}

TEST_CASE("a parameter larger than a bucket is a bucket of its own") {
  FakeNetwork network = chain_of(3);
  const Plan plan = training_plan(network);
  const BucketBytes small{.single = 0, .full = 1, .last = 1};
  CHECK(described(plan, buckets_of(plan, small)) == Described{{1, "conv3 backward_parameters"},
                                                              {1, "conv2 backward_parameters"},
                                                              {1, "conv1 backward_parameters"}});
}

TEST_CASE("bucket sizes count bytes of the gradient dtype") {
  FakeNetwork network = chain_of(4);
  const Plan plan = training_plan(network);
  const BlockLayout blocks = lay_out_blocks(plan.laid_out.graph);
  CHECK(cut_gradient_buckets(plan, blocks, kBytes, entries(3, 2, 1)).size() == 3);
  CHECK(cut_gradient_buckets(plan, blocks, kBytes / 2, entries(3, 2, 1)).size() == 1);
}

TEST_CASE("parameters that several nodes share are complete after the last of them") {
  FakeNetwork network = chain_of(3);
  network.graph.nodes[2].parameters_of = network.graph.nodes[1].path;
  const Plan plan = training_plan(network);
  CHECK(described(plan, buckets_of(plan, entries(0, 1, 1))) ==
        Described{{1, "conv2 accumulate"}, {1, "conv1 backward_parameters"}});
}

TEST_CASE("frozen parameters wait for those before them in the block") {
  FakeNetwork network = chain_of(4);
  network.graph.nodes[1].frozen = network.graph.nodes[3].frozen = true;
  const Plan plan = training_plan(network);
  const std::vector<GradientBucket> buckets = buckets_of(plan, entries(0, 1, 1));
  REQUIRE(buckets.size() == 4);
  CHECK(buckets[0].steps == 0);  // nothing ever writes there
  CHECK(name_of(plan, plan.steps[buckets[1].steps - 1]) == "conv3 backward_parameters");
  CHECK(buckets[2].steps == buckets[1].steps);
  CHECK(buckets[3].steps == plan.steps.size());
}

TEST_CASE("the batch statistics are part of the last bucket") {
  FakeNetwork network({2, 4});
  FakeTraits norm = conv_like();
  norm.statistic_elements = 4;
  network(conv_like(), {network(norm, {0})});
  const Plan plan = training_plan(network);
  const std::vector<GradientBucket> buckets = buckets_of(plan, entries(0, 1, 1));
  REQUIRE(buckets.size() == 2);
  CHECK(buckets[0].count == kEntry);
  CHECK(buckets[1].count == kEntry + 64);
}
