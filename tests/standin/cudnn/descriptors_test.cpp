// The same descriptors, valid and invalid, through the stand-in and through the real cuDNN, which
// needs no GPU for them.
#include <doctest/doctest.h>

#include "base/shared_library.h"
#include "library_under_test.h"
#include "wrong_parts.h"

using namespace standin_tests;
using trainyard::cudnn::Library;

namespace {

bool no_cudnn() {
  static const bool none = !trainyard::SharedLibrary(TY_CUDNN_LIBRARY).is_open();
  return none;
}

void check_answers(const Library& library, const std::vector<WrongParts>& list) {
  for (const WrongParts& wrong : list) {
    CAPTURE(wrong.what);
    Maker maker(library.call());
    wrong.make(maker);
    CAPTURE(maker.where());
    CHECK(maker.status() == wrong.status);
  }
}

}  // namespace

TEST_CASE("the stand-in returns the recorded answers of cuDNN to descriptors") {
  check_answers(stand_in(), wrong_calls());
  check_answers(stand_in(), wrong_graphs());
  check_answers(stand_in(), wrong_engines());
}

TEST_CASE("cuDNN returns the recorded answers to descriptors" * doctest::skip(no_cudnn())) {
  const Library real(TY_CUDNN_LIBRARY);
  check_answers(real, wrong_calls());
  check_answers(real, wrong_graphs());
  check_answers(real, wrong_engines());
}
