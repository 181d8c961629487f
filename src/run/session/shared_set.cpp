#include "run/session/shared_set.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/table_form.h"
#include "formats/json.h"
#include "ranks/comm/shared_memory.h"

namespace trainyard {
namespace {

/// The layout of a set's samples in shared memory: its images, its labels, its other fields.
struct Extents {
  std::size_t image_bytes = 0, label_bytes = 0;
  std::vector<std::size_t> field_bytes;
  std::size_t images = 0, labels = 0, all = 0;  // offsets; all: the end
  std::vector<std::size_t> fields;              // offsets
};

/// `fields`: the label first.
Extents extents_of(std::size_t image_bytes, std::size_t samples,
                   std::span<const SampleField> fields) {
  Extents extents{.image_bytes = image_bytes, .label_bytes = samples * fields[0].bytes()};
  OffsetAllocator allocator;
  extents.images = allocator.take(extents.image_bytes);
  extents.labels = allocator.take(extents.label_bytes);
  for (const SampleField& field : fields.subspan(1)) {
    extents.field_bytes.push_back(samples * field.bytes());
    extents.fields.push_back(allocator.take(extents.field_bytes.back()));
  }
  extents.all = allocator.used();
  return extents;
}

/// A set whose samples are in `memory`.
DatasetPtr set_in(std::shared_ptr<const SharedMemory> memory, const Extents& extents, bool floats,
                  MemorySamples samples) {
  const std::byte* const at = memory->data();
  const std::byte* const images = at + extents.images;
  HeldSamples held;
  held.labels = {reinterpret_cast<const std::int32_t*>(at + extents.labels),
                 extents.label_bytes / sizeof(std::int32_t)};
  if (floats) {
    held.floats = {reinterpret_cast<const float*>(images), extents.image_bytes / sizeof(float)};
  } else {
    held.bytes = {reinterpret_cast<const std::uint8_t*>(images), extents.image_bytes};
  }
  for (std::size_t i = 0; i < extents.fields.size(); ++i) {
    held.fields.push_back({at + extents.fields[i], extents.field_bytes[i]});
  }
  return std::make_unique<MemoryDataset>(std::move(samples), held, std::move(memory));
}

/// `samples` with these fields, the label first, without values.
MemorySamples with_fields(MemorySamples samples, std::span<const SampleField> fields) {
  samples.label = fields[0].shape;
  for (const SampleField& field : fields.subspan(1)) samples.fields.push_back({.of = field});
  return samples;
}

Json json_of(const std::vector<SampleField>& fields) {
  Json list = Json::array();
  for (const SampleField& field : fields) list.push_back(json_of(field));
  return list;
}

std::vector<SampleField> fields_of(const Json& list) {
  std::vector<SampleField> fields;
  for (const Json& entry : list) fields.push_back(sample_field_of(entry));
  return fields;
}

/// As text, "" if there is none.
std::string text_of(const Vocabulary* vocabulary) {
  return vocabulary == nullptr ? "" : vocabulary_json(*vocabulary);
}

std::shared_ptr<const Vocabulary> vocabulary_in(const std::string& text) {
  if (text.empty()) return nullptr;
  return std::make_shared<const Vocabulary>(parse_vocabulary(text, "the data of this machine"));
}

/// As JSON, null if there is none.
Json json_of(const TableForm* table) { return table == nullptr ? Json() : json_of(*table); }

std::shared_ptr<const TableForm> table_in(const Json& json) {
  if (json.is_null()) return nullptr;
  return std::make_shared<const TableForm>(table_form_of(json));
}

/// How the other ranks of this machine find the samples of `set` in `memory`.
std::string place_text(const Dataset& set, const Extents& extents, const SharedMemory& memory) {
  const Shape image = set.image_shape();
  return json_line({{"process", memory.name().process},
                    {"descriptor", memory.name().descriptor},
                    {"floats", !set.held().floats.empty()},
                    {"images", extents.image_bytes},
                    {"samples", set.size()},
                    {"fields", json_of(set.fields())},
                    {"vocabulary", text_of(set.vocabulary())},
                    {"table", json_of(set.table())},
                    {"image", {image[0], image[1], image[2]}},
                    {"classes", set.classes()},
                    {"class_names", set.class_names()},
                    {"fingerprint", set.fingerprint()}});
}

std::vector<std::int64_t> origins_of(const Dataset& set) {
  std::vector<std::int64_t> origins;
  for (std::int64_t i = 0; i < set.size(); ++i) origins.push_back(set.origin(i));
  return origins;
}

/// Moves what `set` holds into shared memory. Returns "" and changes nothing if it holds nothing.
std::string share(DatasetPtr& set) {
  const HeldSamples held = set->held();
  if (held.labels.empty()) return "";
  const auto images = held.floats.empty() ? std::as_bytes(held.bytes) : std::as_bytes(held.floats);
  const std::vector<SampleField> fields = set->fields();
  const Extents extents = extents_of(images.size(), static_cast<std::size_t>(set->size()), fields);
  const auto memory = std::make_shared<SharedMemory>(extents.all);
  const auto put = [&](std::size_t offset, std::span<const std::byte> bytes) {
    std::ranges::copy(bytes, memory->data() + offset);
  };
  put(extents.images, images);
  put(extents.labels, std::as_bytes(held.labels));
  for (std::size_t i = 0; i < held.fields.size(); ++i) put(extents.fields[i], held.fields[i]);
  std::string place = place_text(*set, extents, *memory);
  set = set_in(memory, extents, !held.floats.empty(),
               with_fields({.image = set->image_shape(),
                            .classes = set->classes(),
                            .class_names = set->class_names(),
                            .vocabulary = vocabulary_in(text_of(set->vocabulary())),
                            .table = table_in(json_of(set->table())),
                            .fingerprint = set->fingerprint(),
                            .files = set->files(),
                            .origins = origins_of(*set)},
                           fields));
  return place;
}

DatasetPtr set_at(std::string_view place) {
  const Json found =
      parse_json(place, {.name = "the data of this machine", .kind = ErrorKind::bug});
  const std::vector<SampleField> fields = fields_of(found.at("fields"));
  const Extents extents = extents_of(found.at("images").get<std::size_t>(),
                                     found.at("samples").get<std::size_t>(), fields);
  const SharedMemoryName name{found.at("process").get<pid_t>(), found.at("descriptor").get<int>()};
  const auto image = found.at("image").get<std::vector<std::int64_t>>();
  return set_in(std::make_shared<SharedMemory>(name, extents.all), extents,
                found.at("floats").get<bool>(),
                with_fields({.image = {image[0], image[1], image[2]},
                             .classes = found.at("classes").get<std::int64_t>(),
                             .class_names = found.at("class_names").get<std::vector<std::string>>(),
                             .vocabulary = vocabulary_in(found.at("vocabulary").get<std::string>()),
                             .table = table_in(found.at("table")),
                             .fingerprint = found.at("fingerprint").get<std::string>()},
                            fields));
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

DatasetPtr open_shared(const DatasetSource& source, const Opening& opening, RankGroup& ranks) {
  if (ranks.identity().local_ranks == 1) return source.open(opening);
  DatasetPtr set;
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
