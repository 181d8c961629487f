#include "cli/doctor_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/launch.h"
#include "cli/print.h"
#include "cli/version.h"
#include "formats/json.h"
#include "ranks/rendezvous/own_address.h"
#include "ranks/rendezvous/reach.h"
#include "ranks/spawn/hosts_reach.h"

namespace trainyard::cli {
namespace {

constexpr Milliseconds kListen(120'000);
constexpr Milliseconds kReach(10'000);

Json reach_json(const std::vector<TestedHost>& hosts) {
  Json all = Json::array();
  for (const TestedHost& host : hosts) {
    Json unreached = Json::array();
    for (const Unreached& other : host.unreached) {
      unreached.push_back({{"host", other.host}, {"address", other.address}, {"why", other.why}});
    }
    all.push_back({{"host", host.name},
                   {"address", host.address},
                   {"problem", host.problem},
                   {"unreached", std::move(unreached)}});
  }
  return {{"program", "train"}, {"reached", all_reached(hosts)}, {"hosts", std::move(all)}};
}

Endpoint endpoint_of(const std::string& address) {
  constexpr std::int64_t kMostPort = 65'535;
  const std::size_t colon = address.rfind(':');
  const auto port =
      colon == std::string::npos ? std::nullopt : parse_integer(address.substr(colon + 1));
  if (colon == 0 || !port || *port < 1 || *port > kMostPort) {
    throw Error(ErrorKind::command_line,
                "--reach: '" + address + "' is not HOST:PORT; write it as --listen prints it");
  }
  return {.host = address.substr(0, colon), .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace

int examine_hosts(const std::string& file, bool json) {
  ReachTest test{
      .hosts = hosts_of_file(file, 1), .environment = own_environment(), .version = version_text()};
  test.hosts = with_ranks(std::move(test.hosts), static_cast<int>(test.hosts.hosts.size()));
  const auto is_here = [&](const Host& host) { return is_own(host.name, test.hosts.own_names); };
  if (!std::ranges::all_of(test.hosts.hosts, is_here)) {
    test.ssh = needed_program("--hosts", "ssh", "openssh-client (apt install openssh-client)");
  }
  const std::vector<TestedHost> hosts = test_reach(test, SystemClock());
  const std::string text = json ? json_line(reach_json(hosts)) : reach_text(file, hosts);
  print(text, json);
  return all_reached(hosts) ? 0 : static_cast<int>(ErrorKind::device);
}

int listen_for_hosts(const std::string& first) {
  const std::string address = own_address_towards(first);
  const Descriptor listener = listen_on({.host = address, .port = 0});
  std::fputs(listening_line(address, port_of(listener), version_text()).c_str(), stdout);
  std::fflush(stdout);
  answer_all(listener, STDOUT_FILENO, kListen);
  return 0;
}

int reach_hosts(const std::string& addresses) {
  const std::vector<std::string> all = split(addresses, ',');
  std::vector<Endpoint> endpoints;
  for (const std::string& address : all) endpoints.push_back(endpoint_of(address));
  std::vector<std::string> reasons(all.size());
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < all.size(); ++i) {
      callers.emplace_back([&, i] { reasons[i] = why_unreached(endpoints[i], kReach); });
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    print(reached_line(all[i], reasons[i]));
  }
  const bool reached = std::ranges::all_of(reasons, [](const auto& why) { return why.empty(); });
  return reached ? 0 : static_cast<int>(ErrorKind::device);
}

}  // namespace trainyard::cli
