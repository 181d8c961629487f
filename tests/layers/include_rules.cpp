#include <algorithm>
#include <string>

#include "rules.h"

namespace trainyard::layers {

namespace {

struct Row {
  std::string_view folder;  // "data/sets", or "data" for its own files and subfolders without a row
  std::vector<std::string_view> may_include;  // these alone, not what they may include
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {"base", {}},
      {"tensor", {"base"}},
      {"launcher", {"base", "tensor"}},
      {"config", {"base"}},
      {"formats", {"base", "tensor"}},
      {"ops", {"base", "tensor", "config"}},
      {"graph", {"base", "config", "ops"}},
      {"device", {"base"}},
      {"device/cuda", {"base", "device"}},
      {"compute", {"base", "tensor", "launcher", "formats", "ops", "device", "device/cuda"}},
      {"ranks/rendezvous", {"base"}},
      {"ranks/comm", {"base", "tensor", "device", "device/cuda", "ranks/rendezvous"}},
      {"ranks/spawn", {"base"}},
      {"ranks", {"base", "device", "ranks/rendezvous", "ranks/comm", "ranks/spawn"}},
      {"plan", {"base", "tensor", "ops", "graph", "device", "compute"}},
      {"data/images", {"base", "config"}},
      {"data/sets", {"base", "tensor", "config", "formats", "data/images"}},
      {"data/text", {"base", "config", "formats", "data/sets"}},
      {"data/augment", {"base", "tensor", "launcher", "config", "data/sets", "data/images"}},
      {"data/feed", {"base", "tensor", "launcher", "device", "data/sets", "data/augment"}},
      {"data", {"data/sets", "data/text", "data/augment"}},
      {"optim", {"base", "tensor", "launcher", "config", "ops", "compute"}},
      {"backend", {"base", "formats", "device", "compute", "ranks/comm", "data/feed", "optim"}},
      {"backend/cuda",
       {"base", "launcher", "device/cuda", "compute", "ranks/comm", "data/feed", "optim",
        "backend"}},
      {"report", {"base", "formats"}},
      {"model",
       {"base", "tensor", "config", "ops", "graph", "device", "compute", "plan", "data/sets",
        "data/feed", "optim"}},
      {"counted",
       {"base", "tensor", "launcher", "ops", "device", "compute", "data/feed", "optim", "model"}},
      {"train",
       {"base", "device", "compute", "ranks/comm", "ranks", "plan", "data/feed", "optim", "report",
        "model"}},
      {"checkpoint", {"base", "formats", "optim", "model"}},
      {"run/config",
       {"base", "config", "ops", "graph", "ranks/rendezvous", "plan", "data/sets", "data/augment",
        "optim", "report", "train"}},
      {"run/session",
       {"base", "config", "formats", "graph", "device", "compute", "ranks/comm", "ranks", "plan",
        "data/sets", "data/augment", "data/feed", "optim", "backend", "report", "model", "train",
        "run/config"}},
      {"run",
       {"base", "config", "formats", "ops", "graph", "ranks/spawn", "ranks", "data/images",
        "data/sets", "data/text", "data/augment", "data/feed", "optim", "report", "model", "train",
        "checkpoint", "run/config", "run/session"}},
      {"inference",
       {"base", "config", "formats", "ops", "ranks/comm", "ranks", "data/images", "data/sets",
        "data/text", "data/augment", "data/feed", "report", "model", "train", "run/config",
        "run/session", "run"}},
      {"bench",
       {"base", "tensor", "formats", "ops", "graph", "device", "compute", "ranks/comm", "ranks",
        "plan", "data/sets", "backend", "report", "model", "counted", "train", "run/config",
        "run/session", "run"}},
      {"analysis", {"base", "config", "formats", "report", "checkpoint", "run/config", "run"}},
      {"sweep", {"base", "config", "ranks/spawn", "report", "run/config", "run", "analysis"}},
      {"fetch", {"base", "config", "data/sets"}},
      {"starter", {"base", "config", "formats", "data/sets", "data/text"}},
      {"export",
       {"base", "config", "formats", "ops", "graph", "data/augment", "data/sets", "checkpoint",
        "run/config", "run"}},
      {"cli",
       {"base",        "config",     "formats",     "graph",       "compute", "ranks/rendezvous",
        "ranks/spawn", "ranks",      "data/images", "data/sets",   "backend", "report",
        "model",       "checkpoint", "run/config",  "run/session", "run",     "inference",
        "bench",       "analysis",   "sweep",       "fetch",       "starter", "export"}},
      {"main.cpp", {"base", "cli"}},
  };
  return rows;
}

struct Owner {
  std::string_view header;  // beginning of the included name
  std::string_view library;
  std::vector<std::string_view> paths;  // beginnings of the paths that may include it
};

const std::vector<Owner>& owners() {
  static const std::vector<std::string_view> calls_cuda = {"src/launcher/", "src/device/cuda/",
                                                           "src/compute/", "src/backend/cuda/"};
  static const std::vector<std::string_view> calls_cudnn = {
      "src/compute/conv/cudnn/", "src/compute/matmul/cublaslt/", "src/compute/devices/cuda/",
      "src/backend/cuda/"};
  static const std::vector<Owner> list = {
      {"yaml-cpp/", "yaml-cpp", {"src/config/"}},
      {"dnnl", "oneDNN", {"src/compute/conv/onednn/"}},
      {"oneapi/", "oneDNN", {"src/compute/conv/onednn/"}},
      {"CLI/", "CLI11", {"src/cli/"}},
      {"nlohmann/", "nlohmann-json", {"src/formats/"}},
      {"xxhash", "xxHash", {"src/base/"}},
      {"xxh3", "xxHash", {"src/base/"}},
      {"zlib", "zlib", {"src/data/"}},
      {"stb", "stb", {"src/data/images/"}},
      {"Eigen", "Eigen", {"src/data/augment/"}},
      {"jpeglib", "libjpeg-turbo", {"src/data/images/"}},
      {"webp/", "libwebp", {"src/data/images/"}},
      {"curl/", "libcurl", {"src/fetch/"}},
      {"jerror", "libjpeg-turbo", {"src/data/images/"}},
      {"omp.h", "OpenMP's interface", {"src/base/"}},
      {"dlfcn.h", "the loader's interface", {"src/base/"}},
      {"cuda", "the CUDA runtime", calls_cuda},
      {"nv/", "the CUDA runtime", calls_cuda},
      {"cudnn", "cuDNN", calls_cudnn},
      {"cublas", "cuBLAS", calls_cudnn},
      {"gloo/", "Gloo", {"src/ranks/comm/"}},
      {"nccl", "NCCL", {"src/ranks/comm/", "src/backend/cuda/"}},
  };
  return list;
}

struct Include {
  std::string name;
  int line;
  bool quoted;
};

/// The include directives of a file, without those in comments.
std::vector<Include> includes_of(const SourceFile& file) {
  std::vector<Include> found;
  const auto code = lines_of(file.code);
  const auto text = lines_of(file.text);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const std::size_t hash = code[i].find_first_not_of(" \t");
    if (hash == std::string_view::npos || !code[i].substr(hash).starts_with("#")) continue;
    if (code[i].find("include") == std::string_view::npos) continue;
    const std::size_t open = text[i].find_first_of("\"<");
    if (open == std::string_view::npos) continue;
    const std::size_t close = text[i].find_first_of("\">", open + 1);
    found.push_back({std::string(text[i].substr(open + 1, close - open - 1)),
                     static_cast<int>(i) + 1, text[i][open] == '"'});
  }
  return found;
}

/// The row of the folder that a file of src is in, by its path from there: the longest that begins
/// it.
const Row* row_of(std::string_view path) {
  const Row* found = nullptr;
  for (const Row& row : table()) {
    const bool within = path == row.folder || (path.starts_with(row.folder) &&
                                               path.substr(row.folder.size()).starts_with("/"));
    if (within && (found == nullptr || row.folder.size() > found->folder.size())) found = &row;
  }
  return found;
}

/// The planner reads what compute says of steps, the files of the folder itself, and no kernels.
bool are_kernels_for_plan(const SourceFile& file, std::string_view name) {
  const bool nested = name.starts_with("compute/") && name.find('/', 8) != std::string_view::npos;
  return nested && file.under("src/plan/");
}

}  // namespace

std::string_view folder_in_table(std::string_view path) {
  const Row* row = row_of(path);
  return row == nullptr ? "" : row->folder;
}

bool may_include(std::string_view from, std::string_view to) {
  const Row *row = row_of(from), *other = row_of(to);
  if (row == nullptr || other == nullptr) return false;
  return row == other ||
         std::ranges::find(row->may_include, other->folder) != row->may_include.end();
}

std::vector<Finding> forbidden_includes(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const Include& include : includes_of(file)) {
    if (!include.quoted) continue;
    const std::string_view from = std::string_view(file.path).substr(4);  // without "src/"
    if (folder_in_table(include.name).empty()) {
      findings.push_back(
          {file.path, include.line, "'" + include.name + "' is not of the form \"folder/file.h\""});
    } else if (!may_include(from, include.name) || are_kernels_for_plan(file, include.name)) {
      findings.push_back({file.path, include.line,
                          std::string(folder_in_table(from)) + " may not include " + include.name});
    }
  }
  return findings;
}

std::vector<Finding> foreign_libraries(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const Include& include : includes_of(file)) {
    for (const Owner& owner : owners()) {
      const bool owned =
          std::ranges::any_of(owner.paths, [&](auto path) { return file.under(path); });
      if (include.quoted || owned || !include.name.starts_with(owner.header)) continue;
      findings.push_back(
          {file.path, include.line,
           std::string(owner.library) + " belongs to " + std::string(owner.paths.front())});
    }
    if (include.name.starts_with("fmt/") && !file.path.ends_with(".cpp")) {
      findings.push_back({file.path, include.line, "fmt is for .cpp files only"});
    }
  }
  return findings;
}

}  // namespace trainyard::layers
