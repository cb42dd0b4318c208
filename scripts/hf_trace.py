#!/usr/bin/env python3
"""Writes a trace that `orrery trace-diff` reads, from a model of Hugging Face's transformers.

    python3 scripts/hf_trace.py MODEL -o theirs.safetensors --prompt-ids 1,2,3
    python3 scripts/hf_trace.py MODEL -o theirs.safetensors -p "Once upon a time"
    orrery trace -m MODEL --prompt-ids 1,2,3 -o ours.safetensors
    orrery trace-diff ours.safetensors theirs.safetensors -m MODEL

Needs torch, transformers and safetensors: pip install torch transformers safetensors
Names are those of the modules, ".input" for what enters one; attention weights are asked for, and RoPE's output is taken
where the model's file has a function apply_rotary_pos_emb. Give ids where the tokenizers are not what is compared.
"""
import argparse
import json
import sys

# Modules whose input has a name of its own among the probes (src/model/PROBES.md).
INPUTS = ("o_proj", "down_proj", "c_proj", "ln_2", "post_attention_layernorm", "pre_feedforward_layernorm")


def arguments():
    parser = argparse.ArgumentParser(description="a trace from transformers, for orrery trace-diff")
    parser.add_argument("model", help="a folder, or a name on the hub")
    parser.add_argument("-o", "--output", required=True)
    text = parser.add_mutually_exclusive_group(required=True)
    text.add_argument("-p", "--prompt", help="text, cut by the model's own tokenizer")
    text.add_argument("--prompt-ids", help="1,2,3")
    parser.add_argument("--precision", choices=("f32", "f64"), default="f32")
    return parser.parse_args()


def import_or_exit():
    try:
        import safetensors.torch
        import torch
        import transformers
    except ImportError as error:
        sys.exit(f"hf_trace.py: {error.name} is missing; it needs: pip install torch transformers safetensors")
    return torch, transformers, safetensors.torch


def tensor_of(value):
    """The first tensor of what a module takes or gives."""
    while isinstance(value, (tuple, list)) and value:
        value = value[0]
    return value if hasattr(value, "detach") else None


def record_modules(model, kept):
    def keep(name, value):
        tensor = tensor_of(value)
        if tensor is not None and tensor.is_floating_point():
            kept[name] = tensor.detach().clone().contiguous()

    for name, module in model.named_modules():
        if not name:
            continue
        last = name.rsplit(".", 1)[-1]
        if last in INPUTS:
            module.register_forward_pre_hook(lambda _, given, name=name: keep(name + ".input", given))
        module.register_forward_hook(lambda _, given, result, name=name: keep(name, result))


def record_rope(model, kept):
    """RoPE is a function of the model's file, called once for each layer, in order."""
    layers = getattr(getattr(model, "model", None), "layers", None)
    if layers is None:
        return
    source = sys.modules[type(layers[0]).__module__]
    original = getattr(source, "apply_rotary_pos_emb", None)
    if original is None:
        return
    calls = []

    def recording(*args, **kwargs):
        q, k = original(*args, **kwargs)
        for name, tensor in (("q_rope", q), ("k_rope", k)):
            kept[f"model.layers.{len(calls)}.self_attn.{name}"] = tensor.detach().clone().contiguous()
        calls.append(None)
        return q, k

    source.apply_rotary_pos_emb = recording


def header(config, ids, versions):
    n_heads = config.num_attention_heads
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // n_heads
    has_rope = getattr(config, "rope_theta", None) is not None or getattr(config, "rope_parameters", None) is not None
    epsilon = getattr(config, "rms_norm_eps", None)
    facts = {
        "format": "orrery trace 1",
        "prompt_ids": json.dumps(ids),
        "positions": json.dumps(list(range(len(ids)))),
        "build": versions,
        "kernels": "transformers",
        "attention": "visible",
        "n_heads": n_heads,
        "n_kv_heads": getattr(config, "num_key_value_heads", None) or n_heads,
        "head_dim": head_dim,
        "norm": "layer" if epsilon is None else "rms",
        "norm_epsilon": epsilon or config.layer_norm_epsilon,
    }
    if has_rope:
        facts["rope_layout"] = "half_split"
        facts["rope_dims"] = int(head_dim * getattr(config, "partial_rotary_factor", 1))
    return {key: str(value) for key, value in facts.items()}


def main():
    options = arguments()
    torch, transformers, safetensors_torch = import_or_exit()
    dtype = torch.float64 if options.precision == "f64" else torch.float32
    # The eager form of attention is the one that gives its weights.
    model = transformers.AutoModelForCausalLM.from_pretrained(options.model, torch_dtype=dtype,
                                                              attn_implementation="eager").eval()
    if options.prompt_ids:
        ids = [int(number) for number in options.prompt_ids.replace(" ", ",").split(",") if number]
    else:
        ids = transformers.AutoTokenizer.from_pretrained(options.model)(options.prompt)["input_ids"]

    kept = {}
    record_modules(model, kept)
    record_rope(model, kept)
    with torch.no_grad():
        result = model(torch.tensor([ids]), output_attentions=True, use_cache=False)
    is_gpt2 = hasattr(model, "transformer")
    for layer, weights in enumerate(result.attentions or ()):
        block = f"transformer.h.{layer}.attn" if is_gpt2 else f"model.layers.{layer}.self_attn"
        kept[f"{block}.attn_weights"] = weights.detach().clone().contiguous()
    versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
    facts = header(model.config.get_text_config(), ids, versions) | {"model": options.model}
    safetensors_torch.save_file(kept, options.output, metadata=facts)
    print(f"{options.output}: {len(kept)} tensors of {len(ids)} positions", file=sys.stderr)


if __name__ == "__main__":
    main()
