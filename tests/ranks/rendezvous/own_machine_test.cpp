#include <doctest/doctest.h>

#include "base/error.h"
#include "ranks/rendezvous/socket.h"

using namespace trainyard;

TEST_CASE("towards this machine, the address is its own") {
  CHECK(own_address_towards("127.0.0.1") == "127.0.0.1");
}

TEST_CASE("an unknown host is refused by name") {
  CHECK_THROWS_WITH_AS(own_address_towards("no-such-host.invalid"),
                       doctest::Contains("no route from this machine to 'no-such-host.invalid': "),
                       Error);
}
