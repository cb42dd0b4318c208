// What a comparison has found out so far, in one file, so that it can be interrupted and go on, or be shown again. The
// file is named after all settings and the build: other settings have another file.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace orrery {

struct Findings {
  std::map<std::string, std::vector<double>> numbers;  // NaN: not known
  std::map<std::string, std::string> words;

  const std::vector<double>& list(const std::string& name) const;  // empty where there is none
  double number(const std::string& name) const;                    // the first of the list; NaN where there is none
  const std::string& word(const std::string& name) const;          // empty where there is none
};

class ResultStore {
 public:
  // Reads the folder's file for this key, if there is one and it is not to begin anew. The folder is made. Throws Error
  // for a folder that cannot be made and for a broken file.
  ResultStore(const std::string& folder, const std::string& key, bool begins_anew);

  const Findings* find(const std::string& piece) const;   // nullptr: not yet
  const Findings& at(const std::string& piece) const;     // empty where there is none
  void put(const std::string& piece, Findings findings);  // and writes the file: whole, or as it was
  const std::map<std::string, Findings>& all() const { return pieces_; }
  const std::string& path() const { return path_; }

 private:
  void read();
  void write() const;

  std::string path_, key_;
  std::map<std::string, Findings> pieces_;
};

}  // namespace orrery
