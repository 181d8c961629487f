#include "run/session/shared_set.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "comm/shared_memory.h"
#include "data/memory_dataset.h"
#include "formats/json.h"

namespace trainyard {
namespace {

/// The layout of a set's samples in shared memory: its images, and its labels from `labels` on.
struct Extents {
  std::size_t images = 0, labels = 0, all = 0;  // bytes
};

Extents extents_of(std::size_t images, std::size_t samples) {
  const std::size_t labels = aligned_bytes(images);
  return {.images = images, .labels = labels, .all = labels + samples * sizeof(std::int32_t)};
}

/// A set whose samples are in `memory`.
std::unique_ptr<Dataset> set_in(std::shared_ptr<const SharedMemory> memory, const Extents& extents,
                                bool floats, MemorySamples samples) {
  const std::byte* const at = memory->data();
  HeldSamples held;
  held.labels = {reinterpret_cast<const std::int32_t*>(at + extents.labels),
                 (extents.all - extents.labels) / sizeof(std::int32_t)};
  if (floats) {
    held.floats = {reinterpret_cast<const float*>(at), extents.images / sizeof(float)};
  } else {
    held.bytes = {reinterpret_cast<const std::uint8_t*>(at), extents.images};
  }
  return std::make_unique<MemoryDataset>(std::move(samples), held, std::move(memory));
}

/// How the other ranks of this machine find the samples of `set` in `memory`.
std::string place_text(const Dataset& set, const Extents& extents, const SharedMemory& memory) {
  const Shape image = set.image_shape();
  return json_line({{"process", memory.name().process},
                    {"descriptor", memory.name().descriptor},
                    {"floats", !set.held().floats.empty()},
                    {"images", extents.images},
                    {"samples", set.size()},
                    {"image", {image[0], image[1], image[2]}},
                    {"classes", set.classes()},
                    {"class_names", set.class_names()},
                    {"fingerprint", set.fingerprint()}});
}

/// Moves what `set` holds into shared memory. Returns "" and changes nothing if it holds nothing.
std::string share(std::unique_ptr<Dataset>& set) {
  const HeldSamples held = set->held();
  if (held.labels.empty()) return "";
  const auto images = held.floats.empty() ? std::as_bytes(held.bytes) : std::as_bytes(held.floats);
  const Extents extents = extents_of(images.size(), held.labels.size());
  const auto memory = std::make_shared<SharedMemory>(extents.all);
  std::memcpy(memory->data(), images.data(), images.size());
  std::memcpy(memory->data() + extents.labels, held.labels.data(), held.labels.size_bytes());
  std::string place = place_text(*set, extents, *memory);
  set = set_in(memory, extents, !held.floats.empty(),
               {.image = set->image_shape(),
                .classes = set->classes(),
                .class_names = set->class_names(),
                .fingerprint = set->fingerprint()});
  return place;
}

std::unique_ptr<Dataset> set_at(std::string_view place) {
  const Json found =
      parse_json(place, {.name = "the data of this machine", .kind = ErrorKind::bug});
  const Extents extents =
      extents_of(found.at("images").get<std::size_t>(), found.at("samples").get<std::size_t>());
  const SharedMemoryName name{found.at("process").get<pid_t>(), found.at("descriptor").get<int>()};
  const auto image = found.at("image").get<std::vector<std::int64_t>>();
  return set_in(std::make_shared<SharedMemory>(name, extents.all), extents,
                found.at("floats").get<bool>(),
                {.image = {image[0], image[1], image[2]},
                 .classes = found.at("classes").get<std::int64_t>(),
                 .class_names = found.at("class_names").get<std::vector<std::string>>(),
                 .fingerprint = found.at("fingerprint").get<std::string>()});
}

/// On errors of shared memory this rank opens the set for itself.
template <class Try>
void or_alone(const std::function<void(const std::string&)>& warn, const Try& attempt) {
  try {
    attempt();
  } catch (const Error& error) {
    warn(std::string(error.what()) + "; this rank keeps its own copy of the data");
  }
}

}  // namespace

std::unique_ptr<Dataset> open_shared(const DatasetSource& source, const Opening& opening,
                                     RankGroup& ranks) {
  if (ranks.identity().local_ranks == 1) return source.open(opening);
  std::unique_ptr<Dataset> set;
  const std::string place = ranks.once_a_machine([&] {
    set = source.open(opening);
    std::string own;
    or_alone(opening.warn, [&] { own = share(set); });
    return own;
  });
  if (!set && !place.empty()) or_alone(opening.warn, [&] { set = set_at(place); });
  return set ? std::move(set) : source.open(opening);
}

}  // namespace trainyard
