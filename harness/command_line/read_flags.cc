#include "harness/command_line/read_flags.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "harness/command_line/quote.h"
#include "harness/error.h"

namespace mailbench {
namespace {

// CLI11's layout with our usage line, and nothing beside the placeholder of a value.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(30); }
  std::string make_usage(const CLI::App* /*app*/, std::string name) const override {
    return "\nUsage: mpirun -np N " + name + " [FLAG]...\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string placeholder = option->get_type_name();
    return placeholder.empty() ? "" : " " + placeholder;
  }
};

constexpr const char* kFooter =
    "\nA flag is written --flag VALUE or --flag=VALUE, a list with commas: --mode graph,eager.\n"
    "Given in a config file, flags lose their dashes: {\"mode\": [\"graph\"], \"iters\": 50}.\n"
    "\nExit code: 0 all passed; 1 any other failure; 2 usage; 3 the machine cannot;\n"
    "           4 a rank hung, died or ran out of time; 5 wrong data.";

void Declare(const std::vector<Flag>& flags, CLI::App& app) {
  app.set_help_flag();  // --help is one of ours
  app.allow_extras();   // what is unknown is refused below, in our words
  app.formatter(std::make_shared<HelpFormatter>());
  for (const Flag& flag : flags) {
    const std::string names =
        (flag.letter.empty() ? "" : "-" + flag.letter + ",") + "--" + flag.name;
    if (flag.type == FlagType::kSwitch) {
      app.add_flag(names, flag.summary)->group(flag.group);
    } else {
      // Every value as text, every repetition kept: both are judged by us.
      app.add_option(names, flag.summary)
          ->expected(1)
          ->take_all()
          ->type_name(flag.placeholder)
          ->group(flag.group);
    }
  }
}

// CLI11 takes the next argument as the value of "--flag=", and "--switch=true" for the switch.
void RefuseEqualsSign(std::string_view arg, const std::vector<Flag>& flags) {
  const std::size_t equals = arg.find('=');
  if (!arg.starts_with("--") || equals == std::string_view::npos) return;
  const Flag* flag = FindFlag(flags, arg.substr(2, equals - 2));
  if (flag == nullptr) return;
  if (flag->type == FlagType::kSwitch) {
    throw UsageError("--" + flag->name + " takes no value: " + Quote(arg));
  }
  if (equals + 1 == arg.size()) throw UsageError("--" + flag->name + ": the value is empty");
}

std::vector<std::string> SplitAtCommas(const std::string& origin, const std::string& text) {
  std::vector<std::string> items;
  std::string_view rest = text;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = rest.find(',');
    items.emplace_back(rest.substr(0, comma));
    if (items.back().empty()) {
      throw UsageError(origin + ": " + Quote(text) + " has an empty item");
    }
    if (comma != std::string_view::npos) rest.remove_prefix(comma + 1);
  }
  return items;
}

void RefuseStray(const std::vector<std::string>& stray) {
  if (stray.empty()) return;
  const std::string& first = stray.front();
  throw UsageError(
      (first.starts_with("-") && first != "--" ? "unknown flag: " : "stray argument: ") +
      Quote(first) + "; --help lists the flags");
}

}  // namespace

Settings ReadFlags(std::span<const char* const> args, const std::vector<Flag>& flags) {
  std::vector<std::string> reversed;  // the order that CLI11 takes
  for (std::size_t i = args.size(); i-- > 0;) {
    RefuseEqualsSign(args[i], flags);
    reversed.emplace_back(args[i]);
  }
  CLI::App app;
  Declare(flags, app);
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ArgumentMismatch& error) {  // "--iters: 1 required N missing"
    const std::string_view what = error.what();
    throw UsageError(Printable(what.substr(0, what.find(':'))) + ": the value is missing");
  } catch (const CLI::ParseError& error) {
    throw UsageError(Printable(error.what()));
  }
  RefuseStray(app.remaining());

  Settings settings;
  for (const Flag& flag : flags) {
    const CLI::Option* option = app.get_option("--" + flag.name);
    const std::vector<std::string>& values = option->results();
    if (values.empty()) continue;
    Setting setting{"--" + flag.name, {}};
    if (values.size() > 1) {
      throw UsageError(setting.origin + " is given twice" +
                       (flag.type == FlagType::kSwitch
                            ? ""
                            : ": " + Quote(values[0]) + " and " + Quote(values[1])));
    }
    setting.items = IsList(flag.type) ? SplitAtCommas(setting.origin, values[0]) : values;
    settings.emplace(flag.name, std::move(setting));
  }
  return settings;
}

std::string HelpText(std::string_view name, std::string_view summary,
                     const std::vector<Flag>& flags) {
  CLI::App app{std::string(summary), std::string(name)};
  Declare(flags, app);
  app.footer(kFooter);
  std::string text = app.help();
  // One blank line between groups is enough.
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace mailbench
