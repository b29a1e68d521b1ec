// A directory that only this user can enter, gone with the object that made it.
#pragma once

#include <string>

namespace mailbench {

class PrivateDirectory {
 public:
  // Owns nothing.
  PrivateDirectory() = default;
  // Makes PARENT/mailbench-XXXXXX, mode 0700. Throws SystemError, which names it.
  explicit PrivateDirectory(const std::string& parent);
  // Removes it and all that is in it.
  ~PrivateDirectory();
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&& other) noexcept;

  const std::string& path() const { return path_; }  // "" when it owns nothing

 private:
  std::string path_;
};

}  // namespace mailbench
