#include "checkpoint/manifest.h"

#include "expect.h"

namespace trainyard::fuzz {

void read_manifest(std::string_view input) {
  const std::string text(input);
  const Manifest manifest = parse_manifest(text, "MANIFEST.json");
  expect(manifest_text(manifest) == text, "a manifest that is not what was written");
}

}  // namespace trainyard::fuzz
