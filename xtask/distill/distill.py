"""Distils the static embedding table of crates/embed from all-MiniLM-L6-v2.

Called by `cargo xtask distill`, with numpy and the package that carries the weights in a virtual environment.
Usage: distill.py MODEL_FOLDER OUT_FOLDER

The recipe, for a vocabulary of V tokens:
  1. h(t) is the last hidden state of token t in the sequence [CLS] t [SEP]: one forward pass per token.
  2. The rows are centred. The first two principal components are taken out: they say how common a token is, not
     what it means. The next 256 components are kept, so a prefix of a row is the best shorter row.
  3. Row t is weighted by a / (a + p(t)). p is Zipf's law over the order of the vocabulary, which is by frequency.
     Words that stand everywhere weigh little in the mean.
  4. Special and unused tokens become zero.
  5. Each row becomes 256 signed bytes and one scale.

The forward pass is written out here, so that nothing but numpy is needed and nothing is downloaded.
"""
import hashlib
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np

DIMENSIONS = 256
DROPPED = 2
RARITY = 1e-5
BATCH = 512
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def read_safetensors(path):
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        data = np.frombuffer(raw[8 + length + start:8 + length + end], dtype="<f4")
        tensors[name] = data.reshape(entry["shape"])
    return tensors, hashlib.sha256(raw).hexdigest()


def erf(x):
    # Abramowitz and Stegun 7.1.26: within 1.5e-7, far below what is kept of a row.
    sign = np.sign(x)
    x = np.abs(x)
    t = 1.0 / (1.0 + 0.3275911 * x)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return (sign * (1.0 - series * np.exp(-x * x))).astype(np.float32)


def gelu(x):
    return 0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))


def layer_norm(x, weight, bias, epsilon=1e-12):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weight + bias


def hidden_states(tensors, ids, heads):
    """The last hidden states of a batch of sequences of one length, without padding."""
    def linear(x, name):
        # One large product instead of one small product per sequence.
        flat = x.reshape(-1, x.shape[-1])
        product = flat @ tensors[name + ".weight"].T + tensors[name + ".bias"]
        return product.reshape(*x.shape[:-1], -1)

    def norm(x, name):
        return layer_norm(x, tensors[name + ".weight"], tensors[name + ".bias"])

    batch, length = ids.shape
    x = tensors["embeddings.word_embeddings.weight"][ids]
    x = x + tensors["embeddings.position_embeddings.weight"][:length]
    x = x + tensors["embeddings.token_type_embeddings.weight"][0]
    x = norm(x, "embeddings.LayerNorm")
    size = x.shape[-1] // heads
    layer = 0
    while f"encoder.layer.{layer}.attention.self.query.weight" in tensors:
        at = f"encoder.layer.{layer}."

        def split(name):
            return linear(x, at + name).reshape(batch, length, heads, size).transpose(0, 2, 1, 3)

        query, key, value = (split("attention.self." + name) for name in ("query", "key", "value"))
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores = scores / scores.sum(-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(batch, length, heads * size)
        x = norm(x + linear(mixed, at + "attention.output.dense"), at + "attention.output.LayerNorm")
        inner = gelu(linear(x, at + "intermediate.dense"))
        x = norm(x + linear(inner, at + "output.dense"), at + "output.LayerNorm")
        layer += 1
    return x


def main():
    model, out = Path(sys.argv[1]), Path(sys.argv[2])
    config = json.loads((model / "config.json").read_text())
    tensors, digest = read_safetensors(model / "model.safetensors")
    if digest != WEIGHTS_SHA256:
        sys.exit(f"these are other weights: {digest}")
    vocabulary = (model / "vocab.txt").read_text(encoding="utf-8").split("\n")
    while vocabulary[-1] == "":
        vocabulary.pop()
    count = len(vocabulary)
    special = np.array([token.startswith("[") and token.endswith("]") and len(token) > 2 for token in vocabulary])
    begin, end = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")

    rows = np.zeros((count, config["hidden_size"]), dtype=np.float32)
    for start in range(0, count, BATCH):
        tokens = np.arange(start, min(start + BATCH, count))
        ids = np.stack([np.full_like(tokens, begin), tokens, np.full_like(tokens, end)], axis=1)
        rows[start:start + len(tokens)] = hidden_states(tensors, ids, config["num_attention_heads"])[:, 1]
        if start % (BATCH * 10) == 0:
            print(f"{start} of {count} tokens", flush=True)

    kept = rows[~special].astype(np.float64)
    mean = kept.mean(0)
    values, vectors = np.linalg.eigh(np.cov((kept - mean).T))
    vectors = vectors[:, np.argsort(values)[::-1]][:, DROPPED:DROPPED + DIMENSIONS]
    # A component has no sign of its own. Fixing it makes the file the same on every machine, up to rounding.
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(0), np.arange(DIMENSIONS)])
    table = (rows - mean) @ vectors

    rank = 1.0 / np.arange(2, count + 2)
    probability = rank / rank.sum()
    table = table * (RARITY / (RARITY + probability))[:, None]
    table[special] = 0.0

    scales = np.abs(table).max(1) / 127.0
    scales[scales == 0.0] = 1.0
    bytes_ = np.clip(np.rint(table / scales[:, None]), -127, 127).astype(np.int8)
    scales[special] = 0.0

    out.mkdir(parents=True, exist_ok=True)
    with open(out / "table.bin", "wb") as file:
        file.write(b"SWBTABLE")
        file.write(struct.pack("<II", count, DIMENSIONS))
        file.write(scales.astype("<f4").tobytes())
        file.write(bytes_.tobytes())
    (out / "vocabulary.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    for name in ("table.bin", "vocabulary.txt"):
        print(name, hashlib.sha256((out / name).read_bytes()).hexdigest())


main()
