// Loads YAML files as trees, and run files with `extends:` and `--set`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "config/node.h"

namespace trainyard::config {

/// Limits against hostile files.
struct FileLimits {
  std::size_t bytes = 1 << 20;
  std::size_t depth = 32;
  std::size_t nodes = 10'000;  // after aliases are expanded
  std::size_t scalar_bytes = 64 << 10;
};

/// Parses `text`; positions contain `name`. Throws Error{config}: syntax errors (the first), or
/// duplicate keys, `<<`, tabs, octal-looking numbers, second documents, limits (all of them).
[[nodiscard]] Node parse_yaml(std::string_view text, const std::string& name,
                              const FileLimits& limits = {});
/// Reads and parses a file. Throws Error{config} if it cannot be read.
[[nodiscard]] Node load_yaml(const fs::path& path, const FileLimits& limits = {});

/// Keys that exclude each other: naming one of `keys` under `path` (dotted, "" for the top)
/// replaces an inherited one. An empty list means that all keys under `path` are exclusive (the
/// members of `optimizer:`).
struct ExclusiveKeys {
  std::string path;
  std::vector<std::string> keys;
};

/// Loads a run file and the chain it extends (maps merge; lists and exclusive keys replace), then
/// applies `overrides` ("a.b.c=value", the value parsed as YAML; the path goes through maps;
/// missing keys are created). Every value keeps the position where it was written; values of
/// overrides have the file name "--set a.b.c". The result has no `extends`. Throws Error{config},
/// or Error{command_line} for a malformed override.
[[nodiscard]] Node load_run(const fs::path& path, std::span<const std::string> overrides,
                            std::span<const ExclusiveKeys> exclusive_keys);
/// Merges `over` onto `base` by the same rules; `path` is the path of both.
[[nodiscard]] Node merged(const Node& base, const Node& over,
                          std::span<const ExclusiveKeys> exclusive_keys,
                          const std::string& path = "");
}  // namespace trainyard::config
