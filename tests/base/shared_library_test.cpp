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

TEST_CASE("an empty path is no library, though the loader would take it for the program") {
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

TEST_CASE("a required function is found, or the error names it and what was expected") {
  const SharedLibrary library("libm.so.6");
  double (*cosine)(double) = nullptr;
  library.require("cos", cosine, "a libm");
  CHECK(cosine(0) == 1);
  try {
    library.require("no_such_function", cosine, "Cosines 2.0.0 or newer");
    FAIL("found a missing function");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    CHECK(std::string(error.what())
              .ends_with(
                  "libm.so.6 has no function no_such_function; expected Cosines 2.0.0 or newer"));
  }
}

TEST_CASE("versions are numbered as by cuDNN and NCCL, and need the right major version") {
  CHECK(version_text(91900) == "9.19.0");
  CHECK(version_text(22809) == "2.28.9");
  CHECK(version_problem("NCCL", 22809, 22809) == "");
  CHECK(version_problem("NCCL", 22900, 22809) == "");
  CHECK(version_problem("NCCL", 22703, 22809) ==
        "NCCL 2.27.3 was found, expected 2.28.9 or a newer 2.x");
  CHECK(version_problem("cuDNN", 100000, 91900) ==
        "cuDNN 10.0.0 was found, expected 9.19.0 or a newer 9.x");
}

}  // namespace
}  // namespace trainyard
