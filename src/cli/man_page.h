// Manual pages, from what the verbs declare.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace trainyard::cli {

/// The name of a verb's page: "train-check"; "train" of the program and of its default verb.
[[nodiscard]] std::string page_name(const CLI::App& verb);

/// The page, section 1, in the language of man(7): of a verb, or of the program.
[[nodiscard]] std::string man_page(const CLI::App& app);

}  // namespace trainyard::cli
