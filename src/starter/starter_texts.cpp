#include <algorithm>
#include <string>

#include "base/error.h"
#include "starter/starter.h"
#include "starter/starter_files.h"  // made of the folder files (CMakeLists.txt)

namespace trainyard {
namespace {

std::string_view text_of_file(const std::string& name) {
  const auto file =
      std::ranges::find(kStarterFiles, name + ".yaml", [](const auto& own) { return own.first; });
  TY_CHECK(file != std::end(kStarterFiles), "a file in src/starter/files");
  return file->second;
}

StarterTexts texts_of_files(const std::string& config, const std::string& network) {
  return {text_of_file(config), text_of_file(network + "_network")};
}

}  // namespace

StarterTexts fine_tuning_texts() { return texts_of_files("fine_tuning", "fine_tuning"); }

StarterTexts starter_texts(StarterKind kind) {
  switch (kind) {
    case StarterKind::images:
      return texts_of_files("images", "images");
    case StarterKind::table:
      return texts_of_files("table", "table");
    case StarterKind::texts:
      return texts_of_files("texts", "texts");
    case StarterKind::text:
      return texts_of_files("text", "text");
    case StarterKind::cifar10:
      return texts_of_files("cifar10", "images");
    case StarterKind::mnist:
    case StarterKind::fashion_mnist:
      return texts_of_files("mnist", "mnist");
    case StarterKind::imdb:
      return texts_of_files("imdb", "imdb");
  }
  check_failed("kind", "a kind of starter", std::source_location::current());
}

}  // namespace trainyard
