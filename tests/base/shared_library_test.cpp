#include "base/shared_library.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/error.h"

namespace trainyard {
namespace {

TEST_CASE("a library gives its functions by name, and null for names it lacks") {
  const SharedLibrary library("libm.so.6");
  REQUIRE(library.is_open());
  auto* cosine = library.function<double(double)>("cos");
  REQUIRE(static_cast<bool>(cosine));
  CHECK(cosine(0) == 1);
  CHECK_FALSE(static_cast<bool>(library.function<double(double)>("no_such_function")));
  CHECK(library.file().filename() == "libm.so.6");
}

TEST_CASE("an empty path is not a library, though the loader would take it for the program") {
  CHECK_THROWS_AS(SharedLibrary{""}, Error);
}

TEST_CASE("a missing library gives the loader's text as the problem") {
  const SharedLibrary library("libno_such_library.so.3");
  CHECK_FALSE(library.is_open());
  CHECK(library.problem().find("libno_such_library.so.3") != std::string::npos);
  CHECK(library.file().empty());
  CHECK_FALSE(static_cast<bool>(library.function<void()>("f")));
}

struct Count {
  void operator()(int* destroyed) const { ++*destroyed; }
};

TEST_CASE("a handle is destroyed once, by its last owner") {
  int destroyed = 0, other = 0;
  {
    Handle<int*, Count> first(&destroyed);
    Handle<int*, Count> second(std::move(first));
    CHECK_FALSE(first);
    CHECK(second.get() == &destroyed);
    Handle<int*, Count> third(&other);
    third = std::move(second);
    CHECK(third.get() == &destroyed);
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
  CHECK(other == 1);
}

TEST_CASE("a handle that was given up is not destroyed") {
  int destroyed = 0;
  {
    Handle<int*, Count> owner(&destroyed);
    CHECK(owner.release() == &destroyed);
  }
  CHECK(destroyed == 0);
}

}  // namespace
}  // namespace trainyard
