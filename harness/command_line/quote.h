// User input, made safe to print in a message.
#pragma once

#include <string>
#include <string_view>

namespace mailbench {

// `text` in double quotes, as one line of printable ASCII: everything else is escaped as in JSON,
// and a long text is cut short.
std::string Quote(std::string_view text);

// The same without the quotes around it, for a message that holds pieces of user input.
std::string Printable(std::string_view text);

// Whether `text` can be a path or a word in a report: UTF-8 without control characters.
bool IsPlainText(std::string_view text);

}  // namespace mailbench
