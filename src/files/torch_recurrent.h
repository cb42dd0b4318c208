// Recurrent language models as PyTorch has them: a safetensors file of a module's state with an embedding, a recurrent
// layer (torch.nn.RNN, LSTM or GRU) and a projection, alone or in a folder with a config.json that says the vocabulary.
#pragma once

#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "files/checkpoint.h"

namespace orrery {

bool is_safetensors(const MappedFile& file);  // by how it begins

// A safetensors file by its path. Where a config.json lies beside it, it is read as that folder. Else it must be a
// recurrent model: which one, and how large, is seen from the shapes of its tensors; it has no vocabulary then.
Checkpoint safetensors_checkpoint(const std::string& path, const LoadOptions& options);

// Writes model.safetensors with the names of PyTorch's word_language_model example (encoder, rnn, decoder), and
// config.json; a byte-level BPE vocabulary as tokenizer.json, one of characters in config.json. The folder is made if
// it is not there. Throws Error for other models, other vocabularies, and weights in blocks (Q8_0).
void write_torch_recurrent(const std::string& folder, const Checkpoint& checkpoint);

}  // namespace orrery
