#include "kernels/machine/adversary/adversary_machine.h"

#include <stdexcept>

#include "kernels/machine/hex.h"

namespace mailbench {
namespace {

std::string HexWords(const Pack& p) {
  std::string text;
  for (const std::uint32_t word : p.word) text += (text.empty() ? "" : " ") + Hex(word);
  return text;
}

// Of a pack: what is said of its first word, without the word.
std::string PlaceOf(const Fabric& fabric, const Pack* pack) {
  const std::string place = fabric.Describe(pack->word);
  return place.substr(0, place.rfind(", word"));
}

}  // namespace

std::uint32_t AdversaryMachine::warp_shuffle_xor(std::uint32_t /*value*/, int /*lane_mask*/) const {
  throw std::logic_error("the adversary machine has no warp operations");
}

std::uint32_t AdversaryMachine::warp_ballot(bool /*vote*/) const {
  throw std::logic_error("the adversary machine has no warp operations");
}

bool AdversaryMachine::IsMemory(const std::uint32_t* word) const {
  if (fabric_->Owns(word)) return true;
  fabric_->FoundStray(who());
  return false;
}

void AdversaryMachine::NoteLook(const Pack& p, const Pack* from) const {
  std::string missing;
  for (int i = 0; i < kPackWords; ++i) {
    if (fabric_->IsInitial(&from->word[i], p.word[i])) {
      missing += (missing.empty() ? " " : ", ") + std::to_string(i);
    }
  }
  thread_->Note(
      "looks at " + PlaceOf(*fabric_, from) + ": " + HexWords(p) +
      (missing.empty() ? ", all four words are there" : ", nothing has arrived in word" + missing));
}

void AdversaryMachine::NoteResult(const Pack& p) const {
  thread_->Note("takes " + HexWords(p) + " as a result");
}

void AdversaryMachine::NoteStore(const Pack& p, const Pack* to) const {
  bool resets = true;
  for (int i = 0; i < kPackWords; ++i) {
    resets = resets && fabric_->IsInitial(&to->word[i], p.word[i]);
  }
  const std::string place = PlaceOf(*fabric_, to);
  thread_->Note(resets ? "resets " + place : "stores " + HexWords(p) + " to " + place);
}

void AdversaryMachine::NotePublish(const std::string& does, const Pack& p, const Pack* to) const {
  thread_->Note(does + " " + HexWords(p) + " to " + PlaceOf(*fabric_, to));
}

void AdversaryMachine::NoteWord(const std::string& does, std::uint32_t value,
                                const std::uint32_t* word) const {
  thread_->Note(does + " " + std::to_string(value) + " at " + fabric_->Describe(word));
}

}  // namespace mailbench
