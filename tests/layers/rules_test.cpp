// Each rule flags a small bad file and passes a good one.
#include "rules.h"

#include <doctest/doctest.h>

#include <string>

#include "source_file.h"

using namespace trainyard::layers;

namespace {

std::string repeated(const std::string& line, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += line;
  return out;
}

/// A file whose one function has `lines` lines, head and brace included.
SourceFile with_function(const std::string& head, int lines) {
  return make_source("src/base/x.cpp", head + " {\n" + repeated("  f();\n", lines - 2) + "}\n");
}

std::string first(const std::vector<Finding>& findings) {
  return findings.empty() ? "" : findings.front().text;
}

}  // namespace

TEST_CASE("comments and literals are blanked, code and line ends are not") {
  const auto file = make_source(
      "src/base/x.cpp", "int a; // getenv\n/* b\n*/ x(\"c\\\"d\", 'e', R\"(f\n)\", 10'000, y);\n");
  CHECK(file.code == "int a;          \n    \n   x(\"    \", ' ', R\"  \n \", 10'000, y);\n");
}

TEST_CASE("a folder may include those of its row alone") {
  CHECK(may_include("graph/x.h", "ops/op.h"));
  CHECK(may_include("graph/x.h", "graph/y.h"));
  CHECK(may_include("data/sets/x.h", "data/images/image.h"));
  CHECK(may_include("compute/conv/x.h", "compute/executor.h"));
  CHECK_FALSE(may_include("data/images/x.h", "data/sets/dataset.h"));
  CHECK_FALSE(may_include("data/x.h", "data/images/image.h"));
  CHECK_FALSE(may_include("graph/x.h", "tensor/shape.h"));  // although ops may
  CHECK_FALSE(may_include("base/x.h", "tensor/shape.h"));
  CHECK_FALSE(may_include("optim/x.h", "device/device.h"));
  CHECK_FALSE(may_include("run/x.h", "cli/output.h"));
  CHECK_FALSE(may_include("backend/x.h", "run/config/run_config.h"));
  CHECK(folder_in_table("run/x.h") == "run");
  CHECK(folder_in_table("run/config/x.h") == "run/config");
  CHECK(folder_in_table("nowhere/x.h") == "");
}

TEST_CASE("an include against the table is flagged") {
  const auto bad = make_source("src/tensor/x.cpp", "\n#include \"ops/op.h\"\n");
  CHECK(report(forbidden_includes(bad)) == "src/tensor/x.cpp:2: tensor may not include ops/op.h\n");
  CHECK(first(forbidden_includes(make_source("src/launcher/x.cuh", "#include \"ops/op.h\"\n"))) ==
        "launcher may not include ops/op.h");
  CHECK(first(forbidden_includes(make_source("src/ops/x.cpp", "#include \"op.h\"\n"))) ==
        "'op.h' is not of the form \"folder/file.h\"");
  CHECK(first(forbidden_includes(
            make_source("src/plan/x.cpp", "#include \"compute/copy/weight_copies.h\"\n"))) ==
        "plan may not include compute/copy/weight_copies.h");
  CHECK(forbidden_includes(make_source("src/plan/x.cpp", "#include \"compute/executor.h\"\n"))
            .empty());
  CHECK(forbidden_includes(make_source("src/ops/x.cpp", "#include \"tensor/shape.h\"\n")).empty());
  CHECK(forbidden_includes(make_source("src/tensor/x.cpp", "// #include \"ops/op.h\"\n")).empty());
}

TEST_CASE("a library outside its owner is flagged") {
  const auto text = [](const char* path, const std::string& header) {
    return first(foreign_libraries(make_source(path, "#include <" + header + ">\n")));
  };
  CHECK(text("src/graph/x.cpp", "yaml-cpp/eventhandler.h") == "yaml-cpp belongs to src/config/");
  CHECK(text("src/run/x.cpp", "dnnl.hpp") == "oneDNN belongs to src/compute/conv/onednn/");
  CHECK(text("src/run/x.cpp", "CLI/CLI.hpp") == "CLI11 belongs to src/cli/");
  CHECK(text("src/run/x.cpp", "nlohmann/json.hpp") == "nlohmann-json belongs to src/formats/");
  CHECK(text("src/data/x.cpp", "xxhash.h") == "xxHash belongs to src/base/");
  CHECK(text("src/run/x.cpp", "zlib.h") == "zlib belongs to src/data/");
  CHECK(text("src/run/x.cpp", "stb/stb_image.h") == "stb belongs to src/data/images/");
  CHECK(text("src/compute/x.cpp", "omp.h") == "OpenMP's interface belongs to src/base/");
  CHECK(text("src/run/x.cpp", "dlfcn.h") == "the loader's interface belongs to src/base/");
  CHECK(text("src/run/x.cpp", "cuda_runtime_api.h") == "the CUDA runtime belongs to src/launcher/");
  CHECK(text("src/ops/x.h", "nv/target") == "the CUDA runtime belongs to src/launcher/");
  CHECK(text("src/device/x.cpp", "cudnn_graph.h") == "cuDNN belongs to src/compute/conv/cudnn/");
  CHECK(text("src/plan/x.cpp", "cublasLt.h") == "cuBLAS belongs to src/compute/conv/cudnn/");
  CHECK(text("src/run/x.cpp", "gloo/context.h") == "Gloo belongs to src/ranks/comm/");
  CHECK(text("src/ranks/comm/x.cpp", "gloo/context.h") == "");
  CHECK(text("src/run/x.cpp", "nccl.h") == "NCCL belongs to src/ranks/comm/");
  CHECK(text("src/device/cuda/x.cpp", "cuda_runtime_api.h") == "");
  CHECK(text("src/compute/functor/x.cu", "fmt/format.h") == "fmt is for .cpp files only");
  CHECK(text("src/run/x.h", "fmt/format.h") == "fmt is for .cpp files only");
  CHECK(text("src/run/x.cpp", "fmt/format.h") == "");
  CHECK(text("src/compute/conv/onednn/x.cpp", "dnnl.hpp") == "");
}

TEST_CASE("a function over sixty lines is flagged, one of sixty is not") {
  CHECK(long_functions(with_function("int f()", 60)).empty());
  CHECK(first(long_functions(with_function("int f()", 61))) ==
        "function of 61 lines, at most 60: int f()");
  CHECK(
      first(long_functions(with_function("template <class T>\nvoid X<T>::g(\n    T a) const", 59)))
          .starts_with("function of 61 lines"));
  CHECK(first(long_functions(with_function("TEST_CASE(\"a\")", 61)))
            .starts_with("function of 61 lines"));
}

TEST_CASE("members, lambdas and constructors are measured as functions") {
  const std::string body = repeated("  f();\n", 59);
  const auto lines = [](const std::string& text) {
    return functions_of(make_source("src/base/x.cpp", text));
  };
  const auto member = lines("struct A : B<int> {\n void f() {\n" + body + "}\n int i{0};\n};\n");
  REQUIRE(member.size() == 1);
  CHECK(member[0].lines == 61);
  CHECK(member[0].line == 2);
  const auto lambda = lines("void f() {\nconst auto g = [&](int x) {\n" + body + "};\n}\n");
  REQUIRE(lambda.size() == 1);
  CHECK(lambda[0].lines == 63);
  const auto constructor = lines("A::A(int x)\n    : a_(x) {\n" + body + "}\n");
  REQUIRE(constructor.size() == 1);
  CHECK(constructor[0].lines == 62);
  CHECK(lines("namespace a {\nenum class E { a, b };\nstruct S { int i; };\n}\n").empty());
}

TEST_CASE("constant tables do not count, variables do") {
  const std::string rows = repeated("  {1, 2},\n", 80);
  const auto count = [](const std::string& text) {
    return first(long_functions(make_source("src/base/x.cpp", text)));
  };
  CHECK(count("S f() {\n static const Row rows[] = {\n" + rows + " };\n return rows;\n}\n") == "");
  CHECK(count("S f() {\n constexpr std::array<R, 80> rows = {\n" + rows + " };\n}\n") == "");
  CHECK(count("S f() {\n const std::vector<R> rows = {\n" + rows + " };\n}\n") ==
        "function of 84 lines, at most 60: S f()");
  CHECK(count("S f() {\n static const auto x = [] {\n" + rows + " };\n}\n") != "");
}

TEST_CASE("a file over four hundred lines is flagged, tables apart") {
  const auto found = [](const std::string& text) {
    return first(long_files(make_source("src/base/x.cpp", text)));
  };
  CHECK(found(repeated("int i;\n", 400)) == "");
  CHECK(found(repeated("int i;\n", 401)) == "file of 401 lines, at most 400");
  CHECK(found("const int kTable[] = {\n" + repeated("1,\n", 500) + "};\n") == "");
}

TEST_CASE("kernels are measured as functions") {
  const std::string body = repeated("  f();\n", 59);
  const auto kernel = make_source(
      "src/compute/x.cu", "template <class F>\n__global__ void __launch_bounds__(256) k(F f) {\n" +
                              body + "}\nvoid g() { k<<<1, 2>>>(3); }\n");
  CHECK(first(long_functions(kernel)).starts_with("function of 62 lines"));
}

TEST_CASE("an op in seven files is flagged") {
  std::vector<SourceFile> files;
  for (const char* folder : {"ops/", "compute/conv/", "compute/devices/", "compute/conv/cudnn/"}) {
    files.push_back(make_source(std::string("src/") + folder + "conv.h", ""));
    files.push_back(make_source(std::string("src/") + folder + "conv.cpp", ""));
  }
  CHECK(first(scattered_ops(files)) == "8 files of one op, at most 6");
  files.resize(6);
  CHECK(scattered_ops(files).empty());
}

TEST_CASE("a word in the wrong folder is flagged") {
  const auto found = [](const char* path, const std::string& code) {
    return first(misplaced_words(make_source(path, code)));
  };
  CHECK(found("src/run/x.cpp", "std::cout << 1;") == "'std::cout': only cli prints");
  CHECK(found("src/run/x.cpp", "std::cerr << 1;") == "'std::cerr': only cli prints");
  CHECK(found("src/run/x.cpp", "printf(f);") == "'printf': only cli prints");
  CHECK(found("src/run/x.cpp", "std::fputs(f, stderr);") == "'stderr': only cli prints");
  CHECK(found("src/run/x.cpp", "getenv(n);") == "'getenv': only cli reads the environment");
  CHECK(found("src/run/x.h", "using namespace std;") ==
        "'using namespace': names are written out in src");
  CHECK(found("src/run/x.cpp", "std::exit(1);") ==
        "'exit': a library throws, it does not end the program");
  CHECK(found("tests/run/x.cpp", "std::this_thread::sleep_for(d);") ==
        "'sleep_for': a test waits for events, never for time");
  CHECK(found("src/ops/x.h", "#pragma GCC diagnostic push") ==
        "'#pragma GCC diagnostic': warnings are fixed, not silenced");
  CHECK(found("src/cli/x.cpp", "std::cout << getenv(n); exit(1);") == "");
  CHECK(found("src/run/x.cpp", "snprintf(f); // printf\nauto s = \"getenv\"; exit_code();") == "");
}

TEST_CASE("unfinished work and unguarded headers are flagged") {
  const auto bad = make_source("src/run/x.h", std::string("// to") + "do: later\n");
  CHECK(unfinished_work(bad).size() == 1);
  CHECK(unfinished_work(make_source("src/run/x.h", "// todos los dias\n")).empty());
  CHECK(first(unguarded_headers(bad)) == "a header begins with #pragma once");
  CHECK(unguarded_headers(make_source("src/run/x.h", "#pragma once\n")).empty());
}

TEST_CASE("comments and literals that are not in plain words are flagged") {
  const auto found = [](const std::string& text) {
    return first(unplain_words(make_source("src/run/x.h", text)));
  };
  const char* const of = "a sentence begins with its noun, not with 'Of '";
  const char* const those = "a sentence begins with its noun, not with 'Those '";
  CHECK(found("/// Of a rank.\n") == of);
  CHECK(found("f(\"Those ranks\");") == those);
  CHECK(found("// Ranks. Those wait.\n") == those);
  CHECK(found("// a rival\n") == "'rival': say 'a key that excludes another'");
  CHECK(found("// Often of those.\nint rival;\n") == "");
}

TEST_CASE("a source in no list is flagged") {
  const std::vector<SourceFile> files = {make_source("src/compute/conv/conv.cpp", ""),
                                         make_source("src/compute/conv/v.cpp", ""),
                                         make_source("src/compute/pool/pool.cpp", ""),
                                         make_source("src/compute/pool/deep/x.cpp", ""),
                                         make_source("src/ops/v.cpp", ""),
                                         make_source("src/run/session/x.cpp", ""),
                                         make_source("src/compute/conv/conv.h", "")};
  const std::vector<SourceFile> lists = {
      make_source(
          "src/compute/CMakeLists.txt",
          "ty_library(a SOURCES conv/conv.cpp)\nty_cuda_library(b\n  SOURCES pool/*.cpp)\n"),
      make_source("src/ops/CMakeLists.txt", "ty_library(ops LINK ty_base)\n# conv/v.cpp\n"),
      make_source("src/run/CMakeLists.txt", "ty_library(run)\n")};
  CHECK(report(unlisted_sources(files, lists)) ==
        "src/compute/conv/v.cpp:1: no CMakeLists.txt names this file\n"
        "src/compute/pool/deep/x.cpp:1: no CMakeLists.txt names this file\n"
        "src/run/session/x.cpp:1: no CMakeLists.txt names this file\n");
}

TEST_CASE("a second type of a qualified name is flagged, and no other") {
  const auto found = [](const std::string& one, const std::string& other) {
    const auto header = [](const std::string& path, const std::string& code) {
      return make_source(path, "#pragma once\nnamespace a {\n" + code + "\n}  // namespace a\n");
    };
    return report(types_of_one_name({header("src/x.h", one), header("src/y.h", other)}));
  };
  CHECK(found("struct P {\n  int i;\n};", "\n/// The same.\nstruct P {};") ==
        "src/y.h:5: a second a::P, beside that of src/x.h: rename one of them\n");
  CHECK(found("enum class E { one };", "class E final : public B<int> {};") != "");
  CHECK(found("template <class T>\nstruct P {};", "template <class T, int N>\nclass P {};") != "");
  CHECK(found("struct A {\n  int f() { return 1; }\n public:\n  struct P {};\n};",
              "struct A;\nnamespace { struct Q {}; }\nenum class A { x };") != "");
  CHECK(found("struct P {};", "struct Q { struct P {}; };") == "");
  CHECK(found("struct P {};", "struct P;\nP f(struct P p);\nnamespace b { struct P {}; }") == "");
  CHECK(found("struct P {};", "void f() { struct P {}; }\nnamespace { struct P {}; }") == "");
  CHECK(found("struct P {};", "template <>\nstruct P<int> {};") == "");
}
