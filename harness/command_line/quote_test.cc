#include "harness/command_line/quote.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mailbench {
namespace {

TEST(Quote, EscapesWhatIsNotPrintable) {
  EXPECT_EQ(Quote("16K"), R"("16K")");
  EXPECT_EQ(Quote(""), R"("")");
  EXPECT_EQ(Quote("a\nb\x1b[31m"), R"("a\nb\u001b[31m")");
  EXPECT_EQ(Quote("\xff"), R"("\ufffd")");
  EXPECT_EQ(Quote("\x7f"), R"("\u007f")");
  EXPECT_EQ(Quote("say \"so\""), R"("say \"so\"")");
}

TEST(Quote, CutsWhatIsLong) {
  EXPECT_EQ(Quote(std::string(80, 'x')), '"' + std::string(80, 'x') + '"');
  EXPECT_EQ(Quote(std::string(81, 'x')), '"' + std::string(80, 'x') + "\"...");
}

TEST(Printable, KeepsQuotesAndBackslashes) {
  EXPECT_EQ(Printable(R"(key "a\b")"), R"(key "a\b")");
  EXPECT_EQ(Printable("line\nbreak \xfe"), R"(line\nbreak \ufffd)");
  EXPECT_THAT(Printable(std::string(1000, 'x')), ::testing::EndsWith("x..."));
}

TEST(IsPlainText, WantsUtf8WithoutControls) {
  EXPECT_TRUE(IsPlainText(""));
  EXPECT_TRUE(IsPlainText("out/report \xc3\xbc.json"));
  EXPECT_FALSE(IsPlainText("a\nb"));
  EXPECT_FALSE(IsPlainText("a\x7f"));
  EXPECT_FALSE(IsPlainText(std::string("a\0b", 3)));
  EXPECT_FALSE(IsPlainText("\xff"));
}

}  // namespace
}  // namespace mailbench
