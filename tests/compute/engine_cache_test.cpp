#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "compute/conv/cudnn/engine_tuner.h"

using namespace trainyard;
using namespace trainyard::cudnn;
using namespace trainyard::testing;

namespace {

const EngineChoice kChoice{.engine = 7, .knobs = {{2, 1}}, .adds_bias = false};
const EngineChoice kOther{.engine = 9, .knobs = {}, .adds_bias = true};

/// A cache that collects its warnings.
struct Opened {
  std::vector<std::string> warnings;
  EngineCache cache;

  explicit Opened(const std::filesystem::path& folder, const char* gpu = "NVIDIA H200",
                  const char* version = "9.19.0")
      : cache(folder, gpu, version, [this](const std::string& text) { warnings.push_back(text); }) {
  }
};

std::string saved(const std::filesystem::path& folder) {
  Opened opened(folder);
  opened.cache.keep("a", kChoice, 12.5);
  opened.cache.save();
  CHECK(opened.warnings.empty());
  return trainyard::testing::text_of(opened.cache.path());
}

}  // namespace

TEST_CASE("a stored choice is found by the next run, only under its key") {
  const TemporaryFolder folder;
  static_cast<void>(saved(folder.path() / "engines"));
  const Opened next(folder.path() / "engines");
  CHECK(next.warnings.empty());
  CHECK(next.cache.find("a") == kChoice);
  CHECK_FALSE(next.cache.find("b").has_value());
}

TEST_CASE("each GPU and version has its own file") {
  const TemporaryFolder folder;
  static_cast<void>(saved(folder.path()));
  CHECK(Opened(folder.path()).cache.path().filename() == "NVIDIA_H200_cudnn-9.19.0.json");
  CHECK_FALSE(Opened(folder.path(), "NVIDIA A100").cache.find("a").has_value());
  CHECK_FALSE(Opened(folder.path(), "NVIDIA H200", "9.20.0").cache.find("a").has_value());
}

TEST_CASE("choices that another process saved meanwhile are kept") {
  const TemporaryFolder folder;
  Opened one(folder.path()), two(folder.path());
  one.cache.keep("a", kChoice, 1);
  one.cache.save();
  two.cache.keep("b", kOther, 2);
  two.cache.save();
  const Opened both(folder.path());
  CHECK(both.cache.find("a") == kChoice);
  CHECK(both.cache.find("b") == kOther);
}

TEST_CASE("a damaged file gives one warning, counts as empty, and is written anew") {
  const TemporaryFolder folder;
  const std::string good = saved(folder.path());
  const std::string name = Opened(folder.path()).cache.path().string();
  const std::pair<std::string, std::string> damages[] = {
      {good.substr(0, good.size() / 2), "the engine cache is damaged, engines are timed again: "},
      {"", "the engine cache is damaged, engines are timed again: "},
      {"[]", "the engine cache is damaged, engines are timed again: " + name +
                 ": the key 'gpu' is missing"},
      {R"({"gpu": "NVIDIA A100", "cudnn": "9.19.0", "choices": {}})",
       "the engine cache is damaged, engines are timed again: " + name +
           ": expected choices for NVIDIA H200 with cuDNN 9.19.0"},
      {R"({"gpu": "NVIDIA H200", "cudnn": "9.19.0", "choices": []})",
       "the engine cache is damaged, engines are timed again: " + name +
           ": 'choices' is not an object"},
      {R"({"gpu": "NVIDIA H200", "cudnn": "9.19.0", "choices": {"a": {"engine": 1}}})",
       "the engine cache is damaged, engines are timed again: " + name +
           ": the key 'microseconds' is missing"},
  };
  for (const auto& [text, warning] : damages) {
    CAPTURE(text);
    put_text(name, text);
    Opened opened(folder.path());
    REQUIRE(opened.warnings.size() == 1);
    CHECK(opened.warnings[0].starts_with(warning));
    CHECK_FALSE(opened.cache.find("a").has_value());
    opened.cache.keep("b", kOther, 1);
    opened.cache.save();
    CHECK(Opened(folder.path()).cache.find("b") == kOther);
  }
}

TEST_CASE("a choice that cuDNN refuses is dropped with a warning") {
  const TemporaryFolder folder;
  static_cast<void>(saved(folder.path()));
  Opened opened(folder.path());
  opened.cache.forget("a", "conv output");
  REQUIRE(opened.warnings.size() == 1);
  CHECK(opened.warnings[0] == "a stored engine is not accepted and is timed again: conv output");
  CHECK_FALSE(opened.cache.find("a").has_value());
}

TEST_CASE("a folder that cannot be written costs one warning, not the run") {
  const TemporaryFolder folder;
  put_text(folder.path() / "file", "");
  Opened opened(folder.path() / "file" / "engines");
  for (const char* key : {"a", "b"}) {
    opened.cache.keep(key, kChoice, 1);
    opened.cache.save();
  }
  REQUIRE(opened.warnings.size() == 1);
  CHECK(opened.warnings[0].starts_with("the chosen engines are not saved: "));
}

TEST_CASE("without a folder nothing is read or written") {
  Opened opened("");
  opened.cache.keep("a", kChoice, 1);
  opened.cache.save();
  CHECK(opened.warnings.empty());
  CHECK(opened.cache.find("a") == kChoice);
}
