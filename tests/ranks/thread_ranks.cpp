#include "thread_ranks.h"

#include <exception>
#include <memory>
#include <thread>

#include "memory_store.h"
#include "ranks/rendezvous/store_server.h"

namespace trainyard::testing {

Outcomes run_threads(int ranks, const std::function<void(int)>& work) {
  Outcomes outcomes(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        work(rank);
      } catch (const std::exception& error) {
        outcomes[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  threads.clear();
  return outcomes;
}

Outcomes run_stores(StoreKind kind, int ranks, const std::function<void(int, Store&)>& work) {
  if (kind == StoreKind::memory) {
    const auto store = make_memory_store();
    return run_threads(ranks, [&](int rank) { work(rank, *store); });
  }
  StoreServerOptions options;
  options.endpoint.host = "127.0.0.1";
  options.token = "a token";
  options.ranks = ranks;
  const StoreServer server(options);
  return run_threads(ranks, [&](int rank) {
    const auto store = connect_to_store(
        {.endpoint = {"127.0.0.1", server.port()}, .token = "a token"}, Milliseconds(60'000));
    work(rank, *store);
  });
}

Outcomes run_gloo(StoreKind kind, int ranks, const std::function<void(Communicator&)>& work,
                  Milliseconds limit) {
  return run_stores(kind, ranks, [&](int rank, Store& store) {
    const auto group = make_gloo_communicator(rank, ranks, store, local_options(rank, limit));
    work(*group);
  });
}

GlooOptions local_options(int rank, Milliseconds limit) {
  return {.group = "test",
          .address = "127.0.0.1",
          .host = "host" + std::to_string(rank),
          .connect = Milliseconds(60'000),
          .limit = limit};
}

}  // namespace trainyard::testing
