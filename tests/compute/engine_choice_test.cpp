#include <doctest/doctest.h>

#include "base/error.h"
#include "compute/conv/cudnn/engines.h"

using namespace trainyard;
using namespace trainyard::cudnn;

namespace {

constexpr EnginePolicy kExact{
    .deterministic = true, .f32 = true, .tf32 = false, .workspace_cap = 1000};

EngineFacts with_note(cudnnBackendNumericalNote_t note) { return {.numerical_notes = {note}}; }

EnginePolicy changed(bool deterministic, bool f32, bool tf32) {
  return {.deterministic = deterministic, .f32 = f32, .tf32 = tf32, .workspace_cap = 1000};
}

std::string message_of(const char* text) {
  try {
    static_cast<void>(choice_of(Json::parse(text), "engines.json"));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an engine without notes and within the workspace may be used") {
  CHECK(refusal({.workspace_bytes = 1000}, kExact) == "");
  CHECK(refusal({.workspace_bytes = 1001}, kExact) == "needs more workspace than the plan has");
}

TEST_CASE("engines whose results vary are refused if results must be bit-identical") {
  const EngineFacts facts = with_note(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  CHECK(refusal(facts, kExact) == "not deterministic");
  CHECK(refusal(facts, changed(false, true, false)) == "");
  CHECK(refusal(facts, changed(true, false, false)) == "not deterministic");
}

TEST_CASE("tensor cores are permitted for half types, and for f32 if TF32 is allowed") {
  const EngineFacts facts = with_note(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  CHECK(refusal(facts, kExact) == "rounds f32 factors to TF32");
  CHECK(refusal(facts, changed(true, true, true)) == "");
  CHECK(refusal(facts, changed(true, false, false)) == "");
}

TEST_CASE("inputs and sums in smaller types are refused in every precision") {
  for (const bool f32 : {false, true}) {
    for (const bool tf32 : {false, true}) {
      const EnginePolicy rules = changed(false, f32, tf32);
      CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS), rules) ==
            "converts its inputs to a smaller type");
      CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION), rules) ==
            "sums in less than f32");
    }
  }
}

TEST_CASE("transforms whose error grows are refused in f32, small Winograd tiles are not") {
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_FFT), kExact) == "Fourier transform");
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6), kExact) ==
        "Winograd with large tiles");
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13), kExact) ==
        "Winograd with large tiles");
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4), kExact) == "");
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_WINOGRAD), kExact) == "");
  CHECK(refusal(with_note(CUDNN_NUMERICAL_NOTE_FFT), changed(true, false, false)) == "");
}

TEST_CASE("the second of several notes counts too") {
  const EngineFacts facts{.numerical_notes = {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP,
                                              CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}};
  CHECK(refusal(facts, kExact) == "not deterministic");
}

TEST_CASE("different rules have different texts") {
  CHECK(text_of(kExact) == "deterministic, f32, workspace up to 1000");
  CHECK(text_of(changed(false, true, true)) == "any order, tf32, workspace up to 1000");
  CHECK(text_of(changed(true, false, false)) == "deterministic, half, workspace up to 1000");
}

TEST_CASE("refusals are counted by reason") {
  RefusalCount refused;
  CHECK(refused.text() == "cuDNN proposed none");
  refused.add("not deterministic");
  refused.add("sums in less than f32");
  refused.add("not deterministic");
  CHECK(refused.text() == "2 not deterministic, 1 sums in less than f32");
}

TEST_CASE("a choice reads back from its JSON") {
  const EngineChoice choice{.engine = 58, .knobs = {{2, 1}, {13, 0}}, .adds_bias = true};
  CHECK(json_of(choice).dump() == R"({"engine":58,"knobs":[[2,1],[13,0]],"adds_bias":true})");
  CHECK(choice_of(json_of(choice), "x") == choice);
  CHECK(choice_of(json_of(EngineChoice{.engine = 0}), "x") == EngineChoice{.engine = 0});
  const EngineChoice adding{.engine = 58, .adds_result = true};
  CHECK(json_of(adding).dump() ==
        R"({"engine":58,"knobs":[],"adds_bias":false,"adds_result":true})");
  CHECK(choice_of(json_of(adding), "x") == adding);
}

TEST_CASE("invalid choices are refused with the key at fault") {
  CHECK(message_of("[]") == "engines.json: an engine's 'engine' is not as expected");
  CHECK(message_of(R"({"engine": "1", "knobs": [], "adds_bias": true})") ==
        "engines.json: an engine's 'engine' is not as expected");
  CHECK(message_of(R"({"engine": -1, "knobs": [], "adds_bias": true})") ==
        "engines.json: an engine's 'engine' is not as expected");
  for (const char* knobs : {"{}", "[1]", "[[1]]", "[[1, 2, 3]]", "[[1, 2.5]]"}) {
    const std::string text =
        R"({"engine": 1, "knobs": )" + std::string(knobs) + R"(, "adds_bias": true})";
    CHECK(message_of(text.c_str()) == "engines.json: an engine's 'knobs' is not as expected");
  }
  CHECK(message_of(R"({"engine": 1, "knobs": []})") ==
        "engines.json: an engine's 'adds_bias' is not as expected");
  CHECK(message_of(R"({"engine": 1, "knobs": [], "adds_bias": 0})") ==
        "engines.json: an engine's 'adds_bias' is not as expected");
  CHECK(message_of(R"({"engine": 1, "knobs": [], "adds_bias": false, "adds_result": 1})") ==
        "engines.json: an engine's 'adds_result' is not as expected");
}
