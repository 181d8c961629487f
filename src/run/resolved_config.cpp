#include "run/resolved_config.h"

#include "base/hash.h"

namespace trainyard {
namespace {

config::Node resolved_tree(const RunConfig& config) {
  config::Node tree = config.settled;
  *tree.find("network") = network_of(config);
  return tree;
}

}  // namespace

std::string resolved_yaml(const RunConfig& config) {
  return config::to_yaml(resolved_tree(config));
}

std::string config_hash(const RunConfig& config) {
  return hash128_hex(std::string_view(resolved_yaml(config)));
}

std::vector<config::Difference> config_differences(const RunConfig& before,
                                                   const RunConfig& after) {
  return config::differences(resolved_tree(before), resolved_tree(after));
}

}  // namespace trainyard
