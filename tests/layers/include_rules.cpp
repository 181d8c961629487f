#include "include_rules.h"

#include <algorithm>
#include <string>

namespace trainyard::layers {

namespace {

struct Row {
  std::string_view folder;
  std::vector<std::string_view> may_include;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {"base", {}},
      {"tensor", {"base"}},
      {"kernels", {"base", "tensor"}},
      {"config", {"base"}},
      {"formats", {"base", "tensor"}},
      {"ops", {"base", "tensor", "kernels", "config"}},
      {"graph", {"ops", "config"}},
      {"device", {"base", "tensor"}},
      {"exec", {"ops", "device", "kernels", "formats"}},
      {"comm", {"base", "tensor", "device"}},
      {"launch", {"base"}},
      {"plan", {"graph", "device", "exec", "comm"}},
      {"data", {"base", "tensor", "kernels", "config", "device", "formats"}},
      {"optim", {"base", "tensor", "kernels", "config", "ops"}},
      {"backend", {"plan", "data", "optim", "formats"}},
      {"report", {"base", "formats"}},
      {"model", {"plan", "data", "optim"}},
      {"counted", {"model"}},
      {"train", {"report", "model", "launch"}},
      {"checkpoint", {"model", "formats"}},
      {"run", {"train", "checkpoint", "backend"}},
      {"inference", {"run"}},
      {"bench", {"run", "counted"}},
      {"analysis", {"run"}},
      {"sweep", {"run", "analysis"}},
      {"fetch", {"data"}},
      {"starter", {"data"}},
      {"export", {"run"}},
      {"cli", {"inference", "bench", "analysis", "sweep", "fetch", "starter", "export"}},
      {"main.cpp", {"cli"}},
  };
  return rows;
}

struct Owner {
  std::string_view header;  // beginning of the included name
  std::string_view library;
  std::vector<std::string_view> paths;  // beginnings of the paths that may include it
};

const std::vector<Owner>& owners() {
  static const std::vector<std::string_view> calls_cuda = {"src/kernels/", "src/device/cuda/",
                                                           "src/exec/", "src/backend/cuda/"};
  static const std::vector<std::string_view> calls_cudnn = {"src/exec/cudnn/", "src/backend/cuda/"};
  static const std::vector<Owner> list = {
      {"yaml-cpp/", "yaml-cpp", {"src/config/"}},
      {"dnnl", "oneDNN", {"src/exec/onednn/"}},
      {"oneapi/", "oneDNN", {"src/exec/onednn/"}},
      {"CLI/", "CLI11", {"src/cli/"}},
      {"nlohmann/", "nlohmann-json", {"src/formats/"}},
      {"xxhash", "xxHash", {"src/base/"}},
      {"xxh3", "xxHash", {"src/base/"}},
      {"zlib", "zlib", {"src/data/"}},
      {"stb", "stb", {"src/data/"}},
      {"jpeglib", "libjpeg-turbo", {"src/data/"}},
      {"webp/", "libwebp", {"src/data/"}},
      {"curl/", "libcurl", {"src/fetch/"}},
      {"jerror", "libjpeg-turbo", {"src/data/"}},
      {"omp.h", "OpenMP's interface", {"src/base/"}},
      {"dlfcn.h", "the loader's interface", {"src/base/"}},
      {"cuda", "the CUDA runtime", calls_cuda},
      {"nv/", "the CUDA runtime", calls_cuda},
      {"cudnn", "cuDNN", calls_cudnn},
      {"cublas", "cuBLAS", calls_cudnn},
      {"gloo/", "Gloo", {"src/comm/"}},
      {"nccl", "NCCL", {"src/comm/", "src/backend/cuda/"}},
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

const Row* row_of(std::string_view folder) {
  const auto row = std::ranges::find(table(), folder, &Row::folder);
  return row == table().end() ? nullptr : &*row;
}

}  // namespace

bool is_known_folder(std::string_view folder) { return row_of(folder) != nullptr; }

bool may_include(std::string_view from, std::string_view to) {
  if (from == to) return true;
  const Row* row = row_of(from);
  return row != nullptr && std::ranges::any_of(row->may_include, [&](std::string_view next) {
           return may_include(next, to);
         });
}

std::vector<Finding> forbidden_includes(const SourceFile& file) {
  std::vector<Finding> findings;
  for (const Include& include : includes_of(file)) {
    if (!include.quoted) continue;
    const std::string to = include.name.substr(0, include.name.find('/'));
    if (to == include.name || !is_known_folder(to)) {
      findings.push_back(
          {file.path, include.line, "'" + include.name + "' is not of the form \"folder/file.h\""});
    } else if (!may_include(file.folder(), to)) {
      findings.push_back({file.path, include.line,
                          file.folder() + " may not include " + to + " (" + include.name + ")"});
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
