// The wire format of protocol buffers.
#include "formats/protobuf.h"

#include <doctest/doctest.h>

using namespace trainyard;

namespace {

TEST_CASE("a message has the bytes of the examples in the specification of protocol buffers") {
  ProtobufMessage inner, outer;
  inner.integer(1, 150);
  CHECK(inner.bytes() == "\x08\x96\x01");
  outer.message(3, inner);
  CHECK(outer.bytes() == "\x1a\x03\x08\x96\x01");
  outer.text(2, "testing");
  CHECK(outer.bytes() == "\x1a\x03\x08\x96\x01\x12\x07testing");
  ProtobufMessage numbers;
  numbers.integer(1, -2);
  CHECK(numbers.bytes() == "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  numbers = {};
  numbers.real(5, 1.0F);
  numbers.integer(16, 0);  // a tag of two bytes
  CHECK(numbers.bytes() == std::string("\x2d\0\0\x80\x3f\x80\x01\0", 8));
  numbers = {};
  numbers.real(1, 1.0);
  CHECK(numbers.bytes() == std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

}  // namespace
