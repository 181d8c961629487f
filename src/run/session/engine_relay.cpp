#include "run/session/engine_relay.h"

#include "base/error.h"

namespace trainyard {
namespace {

constexpr Operation kChoosing{"choosing engines"};
/// Sent by rank 0 while it chooses: choices, which are a JSON object, are never empty.
constexpr const char* kStillChoosing = "";

}  // namespace

EngineRelay::EngineRelay(RankGroup& ranks, const Clock& clock, double seconds)
    : ranks_(ranks), clock_(clock), seconds_(seconds), told_(clock.seconds()) {}

void EngineRelay::tick() {
  ranks_.progress(0, kChoosing);
  if (ranks_.rank() > 0 || given_ || clock_.seconds() - told_ < seconds_) return;
  static_cast<void>(ranks_.from_first(kStillChoosing));
  told_ = clock_.seconds();
}

void EngineRelay::give(const std::string& choices) {
  TY_CHECK(!given_ && choices != kStillChoosing, "choices are given once");
  given_ = true;
  static_cast<void>(ranks_.from_first(choices));
}

std::string EngineRelay::take() {
  std::string choices = kStillChoosing;
  while (choices == kStillChoosing) choices = ranks_.from_first("");
  return choices;
}

}  // namespace trainyard
