#include "../base/temporary_folder.h"
#include "expect.h"
#include "graph/build.h"
#include "run/config/run_config.h"

namespace trainyard::fuzz {

namespace {

/// Files that a run file may refer to.
constexpr const char* kNetwork =
    "input: [1, 8, 8]\nvars: {n: 4}\nlayers: [conv: [$n, 3], dense: 10]\n";
constexpr const char* kBase =
    "name: base\n"
    "network: {file: network.yaml}\n"
    "data: {train: {source: mnist}, val: {source: mnist, split: test}}\n"
    "batch: {per_gpu: 8}\n"
    "loss: cross_entropy\n"
    "optimizer: {sgd: {lr: 0.1}}\n"
    "epochs: 1\n";

}  // namespace

void read_run_file(std::string_view input) {
  const testing::TemporaryFolder folder;
  folder.write("network.yaml", kNetwork);
  folder.write("base.yaml", kBase);
  folder.write("run.yaml", std::string(input));
  const RunConfig run = read_run_config(folder / "run.yaml", {});
  const std::string settled = config::to_yaml(run.settled);
  folder.write("settled.yaml", settled);
  const RunConfig again =
      read_again(settled, [&] { return read_run_config(folder / "settled.yaml", {}); });
  expect(config::same_value(again.settled, run.settled),
         "a settled run file settles differently:\n" + settled);
  static_cast<void>(build_graph(network_of(run), {.batch = 2, .profile = run.profile}));
}

}  // namespace trainyard::fuzz
