// The addresses of a host name.
#pragma once

#include <netdb.h>

#include <memory>

namespace trainyard {

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
/// The result of getaddrinfo: a list, the best first.
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

}  // namespace trainyard
