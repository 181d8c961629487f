// The addresses that the system finds for a name.
#pragma once

#include <netdb.h>

#include <memory>

namespace trainyard {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
/// What getaddrinfo gives: a list, the best first.
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

}  // namespace trainyard
