// The run file's keys on ranks: `ranks` and `limits`.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/fields.h"
#include "ranks/rendezvous/rank_limits.h"

namespace trainyard {

/// How ranks work together.
struct RanksConfig {
  enum class Transport { fp32, bf16, fp16 } transport = Transport::fp32;
  std::int64_t check_weights = 0;  // steps between comparisons of all ranks' models
};

/// "bf16".
[[nodiscard]] std::string_view name_of(RanksConfig::Transport transport);

void declare(config::Fields& fields, RanksConfig& ranks);
void declare(config::Fields& fields, RankLimits& limits);

}  // namespace trainyard
