// SHA-256 (FIPS 180-4), double SHA-256 on request: one message an invocation, padding included, and the number of leading
// zero bits of each digest.
//
// Bindings: 0 Params; 1 messages as big-endian words, `stride` words each; 2 length of each message in bytes; 3 digests,
// 8 words each; 4 leading zero bits.
// Dispatch: ceil(messages / 32) groups of 32.
// Compiled by: glslangValidator -V --target-env vulkan1.1 sha256.comp -o sha256.spv
// deburr-run: groups=1,1,1 0.0=1*u32(20)+1*u32(33)+1*u32(1)+1*zero 0.1=660*bits 0.2=20*u32(0..133) 0.3=160*zero:out 0.4=20*zero:out
#version 450

layout(local_size_x = 32) in;

layout(std140, set = 0, binding = 0) uniform Params {
    uint count;
    uint stride;
    uint rounds; // 1, or 2 for the digest of the digest
};
layout(std430, set = 0, binding = 1) readonly buffer Messages { uint messages[]; };
layout(std430, set = 0, binding = 2) readonly buffer Lengths { uint lengths[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Digests { uint digests[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Zeros { uint zeros[]; };

const uint K[64] = uint[64](
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u
);

uint rotate_right(uint x, uint by) {
    return (x >> by) | (x << (32u - by));
}

void start(out uint h[8]) {
    h = uint[8](0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u);
}

void compress(inout uint h[8], in uint block[16]) {
    uint w[64];
    for (uint t = 0u; t < 16u; t++) {
        w[t] = block[t];
    }
    for (uint t = 16u; t < 64u; t++) {
        uint a = w[t - 15u];
        uint b = w[t - 2u];
        uint s0 = rotate_right(a, 7u) ^ rotate_right(a, 18u) ^ (a >> 3u);
        uint s1 = rotate_right(b, 17u) ^ rotate_right(b, 19u) ^ (b >> 10u);
        w[t] = w[t - 16u] + s0 + w[t - 7u] + s1;
    }
    uint a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], f = h[5], g = h[6], last = h[7];
    for (uint t = 0u; t < 64u; t++) {
        uint s1 = rotate_right(e, 6u) ^ rotate_right(e, 11u) ^ rotate_right(e, 25u);
        uint choice = (e & f) ^ (~e & g);
        uint t1 = last + s1 + choice + K[t] + w[t];
        uint s0 = rotate_right(a, 2u) ^ rotate_right(a, 13u) ^ rotate_right(a, 22u);
        uint majority = (a & b) ^ (a & c) ^ (b & c);
        uint t2 = s0 + majority;
        last = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    h[5] += f;
    h[6] += g;
    h[7] += last;
}

// Word `index` of the padded message: its bytes, then 0x80, zeros, and the length in bits.
uint padded_word(uint base, uint length_bytes, uint index, uint final_word) {
    if (index == final_word) {
        return length_bytes << 3u;
    }
    uint first = index << 2u;
    if (first + 4u <= length_bytes) {
        return messages[base + index];
    }
    if (first > length_bytes) {
        return 0u;
    }
    uint kept = length_bytes - first; // 0 to 3 bytes of this word are message
    uint marker = 0x80000000u >> (8u * kept);
    if (kept == 0u) {
        return marker;
    }
    uint mask = 0xffffffffu << (32u - 8u * kept);
    return (messages[base + index] & mask) | marker;
}

void main() {
    uint id = gl_GlobalInvocationID.x;
    if (id >= count) {
        return;
    }
    uint base = id * stride;
    uint length_bytes = min(lengths[id], 4u * stride);
    uint blocks = (length_bytes + 9u + 63u) / 64u;
    uint final_word = blocks * 16u - 1u;

    uint h[8];
    uint block[16];
    start(h);
    for (uint i = 0u; i < blocks; i++) {
        for (uint t = 0u; t < 16u; t++) {
            block[t] = padded_word(base, length_bytes, 16u * i + t, final_word);
        }
        compress(h, block);
    }
    for (uint again = 1u; again < rounds; again++) {
        for (uint t = 0u; t < 8u; t++) {
            block[t] = h[t];
            block[8u + t] = 0u;
        }
        block[8] = 0x80000000u;
        block[15] = 256u;
        start(h);
        compress(h, block);
    }

    uint leading = 0u;
    bool counting = true;
    for (uint t = 0u; t < 8u; t++) {
        digests[8u * id + t] = h[t];
        if (counting) {
            leading += h[t] == 0u ? 32u : 31u - uint(findMSB(h[t]));
            counting = h[t] == 0u;
        }
    }
    zeros[id] = leading;
}
