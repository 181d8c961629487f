// The number of ranks that flags ask for, and the GPU that a rank gets, with GPUs as plain data.
#include "cli/rank_gpus.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"

namespace trainyard::cli {
namespace {

using testing::error_of;

std::vector<GpuFinding> gpus(const std::vector<int>& ordinals) {
  std::vector<GpuFinding> list;
  for (const int ordinal : ordinals) list.push_back({.ordinal = ordinal, .major = 9});
  return list;
}

RankIdentity identity_of(int local_rank, int local_ranks, const std::string& source = "mpirun") {
  return {.rank = local_rank,
          .ranks = local_ranks,
          .local_rank = local_rank,
          .local_ranks = local_ranks,
          .source = source,
          .local_ranks_from = "LOCAL=" + std::to_string(local_ranks)};
}

int stated(const std::string& gpus, std::optional<int> replicas = std::nullopt) {
  const auto ranks = stated_ranks(gpus, replicas);
  return ranks ? ranks->count : -1;
}

TEST_CASE("--gpus and --replicas give a number of ranks, or leave it open") {
  CHECK(stated("4") == 4);
  CHECK(stated("0,2,3") == 3);
  CHECK(stated("id:2") == 1);
  CHECK(stated("auto:4") == 4);
  CHECK(stated("0") == 1);
  CHECK(stated("all") == -1);
  CHECK(stated("") == -1);
  CHECK(stated("0", 5) == 5);
  CHECK(stated("all", 5) == 5);
  CHECK(stated_ranks("4", std::nullopt)->asked == "--gpus 4");
  CHECK(stated_ranks("4", 8)->asked == "--replicas 8");
  CHECK(error_of(ErrorKind::command_line, [] { stated("two", 3); }).starts_with("--gpus 'two'"));
}

TEST_CASE("each chosen GPU gets a rank, and replicas without GPUs are ranks on the CPU") {
  const RankCount each = ranks_on(gpus({2, 0}), {}, std::nullopt);
  CHECK(each.count == 2);
  CHECK(gpus_text(each.gpus) == "2,0");
  CHECK(ranks_on(gpus({2, 0}), {.count = 2}, 2).count == 2);
  const RankCount none = ranks_on({}, {.count = 4}, 4);
  CHECK(none.count == 4);
  CHECK(gpus_text(none.gpus) == "");
}

TEST_CASE("replicas that leave GPUs without work are refused") {
  const std::string text =
      "--replicas 2 leaves 1 of 3 GPUs without work; ask for no more GPUs than replicas";
  CHECK(error_of(ErrorKind::command_line, [] {
          static_cast<void>(ranks_on(gpus({0, 1, 2}), {}, 2));
        }) == text);
  CHECK(error_of(ErrorKind::command_line, [] {
          static_cast<void>(gpu_of_rank(gpus({0, 1, 2}), {.replicas = 2}, identity_of(0, 2)));
        }) == text);
}

TEST_CASE("more replicas than GPUs share them in turn") {
  const RankCount one = ranks_on(gpus({3}), {.count = 4}, 4);
  CHECK(one.count == 4);
  CHECK(gpus_text(one.gpus) == "3");
  const RankCount two = ranks_on(gpus({2, 0}), {.count = 5}, 5);
  CHECK(two.count == 5);
  CHECK(gpus_text(two.gpus) == "2,0");
  const RankGpuFlags flags{.gpus = "2,0", .replicas = 5};
  std::vector<int> ordinals;
  for (int rank = 0; rank < 5; ++rank) {
    ordinals.push_back(gpu_of_rank(gpus({2, 0}), flags, identity_of(rank, 5)).ordinal);
  }
  CHECK(ordinals == std::vector<int>{2, 0, 2, 0, 2});
  CHECK(gpu_of_rank(gpus({3}), {.gpus = "1", .replicas = 4}, identity_of(3, 4)).ordinal == 3);
  CHECK(gpu_of_rank(gpus({3}), {.replicas = 4}, identity_of(2, 4)).ordinal == 3);
}

TEST_CASE("fewer ranks than GPUs take the first ones, and more ranks share all of them") {
  CHECK(gpus_of_start({2, 0, 3}, 2) == std::vector<int>{2, 0});
  CHECK(gpus_of_start({2, 0}, 2) == std::vector<int>{2, 0});
  CHECK(gpus_of_start({3}, 4) == std::vector<int>{3});
  CHECK(gpus_of_start({2, 0}, 5) == std::vector<int>{2, 0});
  CHECK(gpus_of_start({}, 4).empty());
}

TEST_CASE("a launched replica uses the GPUs that its launcher chose") {
  const RankGpuFlags flags{.gpus = "auto:2", .replicas = 4, .chosen = "3,1"};
  CHECK(request_of_rank(flags, identity_of(3, 4, "local")).ids == std::vector<int>{3, 1});
}

TEST_CASE("a rank's GPU is given by its local rank") {
  const RankGpuFlags listed{.gpus = "3,1,2"};
  for (int rank = 0; rank < 3; ++rank) {
    const int expected = std::vector<int>{3, 1, 2}[static_cast<std::size_t>(rank)];
    CHECK(gpu_of_rank(gpus({3, 1, 2}), listed, identity_of(rank, 3)).ordinal == expected);
  }
}

TEST_CASE("without --gpus each rank takes one GPU, or the only one that it can see") {
  CHECK(gpu_of_rank(gpus({0, 1, 2, 3}), {}, identity_of(2, 3)).ordinal == 2);
  CHECK(gpu_of_rank(gpus({0}), {}, identity_of(2, 4)).ordinal == 0);
  CHECK(error_of(ErrorKind::command_line, [] {
          static_cast<void>(gpu_of_rank(gpus({0, 1}), {}, identity_of(0, 4)));
        }) == "2 GPUs for 4 ranks on this host (LOCAL=4); start as many ranks as GPUs");
}

TEST_CASE("--gpus all must match the ranks that the launcher started, else both are named") {
  CHECK(gpu_of_rank(gpus({0, 1}), {.gpus = "all"}, identity_of(1, 2)).ordinal == 1);
  CHECK(error_of(
            ErrorKind::command_line,
            [] {
              static_cast<void>(gpu_of_rank(gpus({0, 1, 2}), {.gpus = "all"}, identity_of(1, 2)));
            }) ==
        "--gpus all asks for 3 ranks on this host, but LOCAL=2 means 2 (of 2 in all); give "
        "the launcher and train the same count");
}

TEST_CASE("all ranks use the launcher's choice of the idlest GPUs") {
  const GpuRequest request =
      request_of_rank({.gpus = "auto:2", .chosen = "3,1"}, identity_of(0, 2, "local"));
  CHECK(request.ids == std::vector<int>{3, 1});
  CHECK(request.text == "auto:2");
  CHECK(request_of_rank({.gpus = "auto:1", .chosen = "0"}, identity_of(0, 2, "local")).ids ==
        std::vector<int>{0});
  CHECK(request_of_rank({.gpus = "auto:1"}, identity_of(0, 1)).kind == GpuRequest::Kind::idlest);
  CHECK(error_of(ErrorKind::command_line,
                 [] {
                   static_cast<void>(
                       request_of_rank({.gpus = "auto:2", .chosen = "3,1"}, identity_of(0, 2)));
                 }) ==
        "--gpus auto:2: ranks that train did not start (mpirun) would each find different GPUs "
        "idle; name them, as in --gpus 4 or --gpus 0,2");
}

TEST_CASE("the ranks of --scaling take the first GPUs, or those of --gpus") {
  const GpuRequest unsaid = request_for_ranks("", 4);
  CHECK(unsaid.kind == GpuRequest::Kind::first);
  CHECK(unsaid.count == 4);
  CHECK(unsaid.text == "4 (of --scaling)");
  CHECK(request_for_ranks("8", 4).count == 8);
  CHECK(request_for_ranks("3,1", 2).ids == std::vector<int>{3, 1});
  CHECK(request_for_ranks("all", 4).kind == GpuRequest::Kind::all);
  CHECK(request_for_ranks("0", 4).kind == GpuRequest::Kind::none);
}

TEST_CASE("--scaling needs at most the GPUs that --gpus selects, and names both numbers") {
  CHECK(error_of(ErrorKind::command_line, [] { static_cast<void>(request_for_ranks("3,1", 4)); }) ==
        "--scaling needs 4 GPUs, but --gpus 3,1 selects 2; give as many, leave --gpus out for the "
        "first ones, or use --gpus 0 for the CPU");
  GpuSurvey one{.driver_cuda = 13000, .runtime_cuda = 13000, .gpus = gpus({0})};
  CHECK(error_of(ErrorKind::device,
                 [&] { static_cast<void>(choose_gpus(request_for_ranks("", 4), one)); }) ==
        "--gpus 4 (of --scaling): 1 GPU was found; ask for at most 1, or use --gpus 0 for the CPU");
}

}  // namespace
}  // namespace trainyard::cli
