// The results of `orrery eval` as tables and as JSON.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "learn/story_exam.h"
#include "measure/sentence_pairs.h"

namespace orrery::cli {

// Columns of a table, the first to the left, the others to the right. The first row is the head.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

// Members are JSON already.
using JsonMembers = std::vector<std::pair<std::string, std::string>>;
std::string json_object(const JsonMembers& members);
std::string json_string(const std::string& text);  // bytes that are no UTF-8 become U+FFFD

std::string loss_table(const LossResult& result);
std::string loss_json(const LossResult& result);
std::string recall_table(const RecallResult& result, const RecallPlan& plan);
std::string recall_json(const RecallResult& result, const RecallPlan& plan);
std::string told_table(const std::vector<ToldStory>& told, bool knows_training);
std::string told_json(const std::vector<ToldStory>& told, bool knows_training);
std::string pairs_table(const SentencePairResult& result);
std::string pairs_json(const SentencePairResult& result);

}  // namespace orrery::cli
