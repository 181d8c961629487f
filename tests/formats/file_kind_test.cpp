
#include <doctest/doctest.h>

#include "formats/safetensors.h"

using namespace trainyard;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

/// The message for a file that holds `text`, without the common prefix.
std::string refusal(const std::string& text) {
  const std::string prefix = "w.pt: expected a safetensors file, found ";
  try {
    static_cast<void>(SafetensorsFile::parse(bytes_of(text), "w.pt"));
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }
  return "accepted";
}

/// The local header of a zip archive's first file (APPNOTE.TXT 4.3.7).
std::string zip_of(const std::string& name) {
  std::string text("PK\x03\x04\x14\x00\x00\x00", 8);
  text += std::string(18, '\0') + static_cast<char>(name.size()) + std::string(3, '\0') + name;
  return text + "data";
}

}  // namespace

TEST_CASE("the error for a file of another kind names its kind, not a bad header") {
  CHECK(refusal(zip_of("archive/data.pkl")).starts_with("a zip archive of PyTorch (.pt, .pth); "));
  CHECK(refusal(zip_of("arr_0.npy")).starts_with("a zip archive of NumPy arrays (.npz); "));
  CHECK(refusal(zip_of("config.json")).starts_with("a zip archive (PyTorch"));
  CHECK(refusal("\x89HDF\r\n\x1a\n and so on").starts_with("an HDF5 file (Keras .h5); "));
  CHECK(refusal("\x80\x02\x8a\nl\xfc\x9c"
                "F\xf9 j")
            .starts_with("a Python pickle (old .pt"));
  CHECK(refusal("\x93NUMPY\x01 and so on").starts_with("a NumPy array (.npy); "));
  CHECK(refusal("\x89PNG\r\n\x1a\n and so on") == "a PNG image");
  CHECK(refusal("\xff\xd8\xff\xe0 and so on") == "a JPEG image");
  CHECK(refusal("version https://git-lfs.github.com/spec/v1\n").starts_with("a Git LFS pointer; "));
  CHECK(refusal("<!DOCTYPE html><html>") == "a web page (HTML)");
  CHECK(refusal("epochs: 3\n") == "a text file");
  CHECK(refusal("hello") == "a text file");
}

TEST_CASE("the error for a convertible file says how to convert it") {
  CHECK(refusal("\x89HDF\r\n\x1a\n  ")
            .ends_with("; Python's package 'safetensors' can convert its tensors"));
  for (const std::string& text : {zip_of("archive/data.pkl"), std::string("\x80\x02\x8a\nl")}) {
    CHECK(refusal(text).ends_with(
        "; Python converts its tensors: import torch, safetensors.torch as s; "
        "s.save_file(torch.load('OLD', weights_only=True), 'NEW.safetensors')"));
  }
}

TEST_CASE("the error for a file of unknown kind states what its header claims") {
  CHECK(refusal(std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x00\x00", 10))
            .find("its header claims 578437695752307201 bytes") != std::string::npos);
  CHECK(refusal("") == "w.pt: not a usable safetensors file: it is empty");
  CHECK(file_kind({}) == "");
}
