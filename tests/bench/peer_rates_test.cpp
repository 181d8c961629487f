// Throughputs of peers from JSON lines.
#include <doctest/doctest.h>

#include <fstream>

#include "../base/temporary_folder.h"
#include "base/error.h"
#include "bench/bench.h"

using namespace trainyard;

namespace {

std::string message_of(const std::string& text, const std::string& net = "resnet20") {
  const testing::TemporaryFolder folder;
  folder.write("peer.jsonl", text);
  try {
    (void)read_peer_rates(folder.text() + "/peer.jsonl", net, 128);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::data);
    const std::string message = error.what();
    return message.substr(message.find("peer.jsonl"));
  }
  return "";
}

constexpr const char* kLines =
    "{\"hardware\": \"two cores\", \"torch\": \"1.13\"}\n"
    "{\"peer\": \"torch 1.13\", \"net\": \"resnet20\", \"batch\": 128, \"mode\": \"fp32\", "
    "\"images_per_s\": 392.5}\n"
    "\n"
    "{\"peer\": \"torch 1.13\", \"net\": \"resnet20\", \"batch\": 64, \"images_per_s\": 1}\n"
    "{\"peer\": \"torch 1.13\", \"net\": \"resnet20\", \"batch\": 128, \"error\": \"no memory\"}\n"
    "{\"program\": \"train\", \"net\": \"resnet20\", \"batch\": 128, \"images_per_s\": 500}\n";

}  // namespace

TEST_CASE("the throughputs for a net and batch are found, whoever measured them") {
  const testing::TemporaryFolder folder;
  folder.write("peer.jsonl", kLines);
  const auto rates = read_peer_rates(folder.text() + "/peer.jsonl", "resnet20", 128);
  REQUIRE(rates.size() == 2);
  CHECK(rates[0].name == "torch 1.13, fp32");
  CHECK(rates[0].images_per_second == 392.5);
  CHECK(rates[1].name == "train");
  CHECK(rates[1].images_per_second == 500);
}

TEST_CASE("an unusable file of throughputs is reported with its error") {
  CHECK(
      message_of(kLines, "cnn") ==
      "peer.jsonl: no line has \"net\": \"cnn\", \"batch\": 128 and \"images_per_s\"; measure the "
      "peer at this batch");
  CHECK(message_of("{}\n[1]\n") == "peer.jsonl:2: expected a JSON object");
  CHECK(message_of("{}\n{\n").find("peer.jsonl:2") == 0);
  CHECK_THROWS_AS((void)read_peer_rates("/nowhere/peer.jsonl", "x", 1), Error);
}
