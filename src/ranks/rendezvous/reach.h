// Whether one host reaches another as ranks do: over a TCP connection to any port.
#pragma once

#include <string>

#include "ranks/rendezvous/socket.h"

namespace trainyard {

/// Answers everyone that connects to `listener` with a greeting of 64 KiB, more than fits into a
/// packet of any network. Returns after `limit`, or once `output` is a pipe without a reader: then
/// nobody waits for this host any more.
void answer_all(const Descriptor& listener, int output, Milliseconds limit);

/// Connects to a listener of answer_all() and reads its greeting, within `limit`. Returns why that
/// fails, "" if it does not.
[[nodiscard]] std::string why_unreached(const Endpoint& endpoint, Milliseconds limit);

}  // namespace trainyard
