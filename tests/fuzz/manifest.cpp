#include "checkpoint/manifest.h"

#include "expect.h"

namespace trainyard::fuzz {

void read_manifest(std::string_view input) {
  const std::string text(input);
  const Manifest manifest = parse_manifest(text, "MANIFEST.json");
  expect(manifest_text(manifest) == text, "a manifest that differs from the written one");
}

}  // namespace trainyard::fuzz
