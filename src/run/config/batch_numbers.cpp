#include "run/config/batch_numbers.h"

#include <string>

#include "base/error.h"
#include "run/config/shards.h"

namespace trainyard {

std::int64_t replica_batch(const RunConfig& run, std::int64_t ranks) {
  if (run.batch.per_gpu) return *run.batch.per_gpu;
  const std::int64_t parts = ranks * shards_of_rank(run, ranks) * run.accumulate;
  if (*run.batch.total % parts != 0) {
    throw Error(ErrorKind::config, "batch.total " + std::to_string(*run.batch.total) +
                                       " is not divisible by " + std::to_string(parts) +
                                       " (ranks x accumulate); choose a multiple of it");
  }
  return *run.batch.total / parts;
}

std::int64_t global_batch(const RunConfig& run, std::int64_t ranks) {
  return replica_batch(run, ranks) * ranks * shards_of_rank(run, ranks) * run.accumulate;
}

BatchNumbers batch_numbers(const RunConfig& run, std::int64_t ranks, std::int64_t samples) {
  BatchNumbers numbers{
      .replica = replica_batch(run, ranks), .ranks = ranks, .global = global_batch(run, ranks)};
  numbers.steps = samples / numbers.global;
  numbers.dropped = samples - numbers.steps * numbers.global;
  if (numbers.steps > 0) return numbers;
  throw Error(ErrorKind::config, "the training split has " + std::to_string(samples) +
                                     " samples, fewer than one global batch of " +
                                     std::to_string(numbers.global) + "; use a smaller batch");
}

}  // namespace trainyard
