#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/error.h"
#include "base/shared_library.h"
#include "error_of.h"

namespace trainyard {
namespace {

/// The mathematics library, which reports version 1.2.3 here.
RequiredLibrary cosines(int least) {
  return {.name = "Cosines", .least_version = least, .version = [](const SharedLibrary& library) {
            return library.function<double(double)>("cos") == nullptr ? 0 : 10203;
          }};
}

std::string refusal(const RequiredLibrary& library, const char* path, const char* function) {
  return testing::error_of(ErrorKind::device, [&] {
    double (*cosine)(double) = nullptr;
    open_library(library, path, {{function, cosine}});
  });
}

TEST_CASE("functions are found by name; the first that is missing is named") {
  const SharedLibrary library("libm.so.6");
  double (*cosine)(double) = nullptr;
  double (*sine)(double) = nullptr;
  double (*none)(double) = &std::cos;
  double (*other)(double) = &std::cos;
  CHECK(std::string(find_functions(
            library,
            {{"cos", cosine}, {"no_such_function", none}, {"nor_this", other}, {"sin", sine}})) ==
        "no_such_function");
  CHECK(cosine(0) == 1);
  CHECK(sine(0) == 0);
  CHECK_FALSE(static_cast<bool>(none));
  CHECK_FALSE(static_cast<bool>(other));
  CHECK(find_functions(library, {{"cos", cosine}}) == nullptr);
}

TEST_CASE("a required library is opened, and its functions may be called") {
  double (*cosine)(double) = nullptr;
  open_library(cosines(10200), "libm.so.6", {{"cos", cosine}});
  CHECK(cosine(0) == 1);
}

TEST_CASE("a library that cannot be opened is refused with its purpose and advice") {
  RequiredLibrary library = cosines(10200);
  const std::string plain = refusal(library, "libno_such.so.3", "cos");
  CHECK(plain.starts_with("Cosines cannot be opened: libno_such.so.3: "));
  library.purpose = "which is needed for waves";
  library.advice = "install it";
  CHECK(refusal(library, "libno_such.so.3", "cos") ==
        "Cosines, which is needed for waves, cannot be opened" +
            plain.substr(std::string("Cosines cannot be opened").size()) + "; install it");
}

TEST_CASE("a library without a function is refused with the function and what was expected") {
  const std::string text = refusal(cosines(20000), "libm.so.6", "no_such_function");
  CHECK(text.ends_with(
      "libm.so.6 has no function no_such_function; expected Cosines 2.0.0 or newer"));
}

TEST_CASE("a library of another version is refused with its file and both versions") {
  CHECK(refusal(cosines(10204), "libm.so.6", "cos")
            .ends_with("libm.so.6: Cosines 1.2.3 was found, expected 1.2.4 or a newer 1.x"));
}

TEST_CASE("versions are numbered as by cuDNN and NCCL, and need the right major version") {
  const RequiredLibrary nccl{.name = "NCCL", .least_version = 22809};
  CHECK(version_text(91900) == "9.19.0");
  CHECK(version_text(22809) == "2.28.9");
  CHECK(version_problem(nccl, 22809) == "");
  CHECK(version_problem(nccl, 22900) == "");
  CHECK(version_problem(nccl, 22703) == "NCCL 2.27.3 was found, expected 2.28.9 or a newer 2.x");
  CHECK(version_problem({.name = "cuDNN", .least_version = 91900}, 100000) ==
        "cuDNN 10.0.0 was found, expected 9.19.0 or a newer 9.x");
}

TEST_CASE("where a newer major version will do, only an older one is refused") {
  const RequiredLibrary cublas{.name = "cuBLASLt", .least_version = 120100, .newer_major = true};
  CHECK(version_problem(cublas, 130000) == "");
  CHECK(version_problem(cublas, 120003) == "cuBLASLt 12.0.3 was found, expected 12.1.0 or newer");
}

}  // namespace
}  // namespace trainyard
