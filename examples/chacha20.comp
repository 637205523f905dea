// ChaCha20 (RFC 8439): one 64-byte block an invocation, key and nonce as push constants, the number of rounds as a
// specialisation constant; the keystream is combined with the message and a 32-bit tag of the ciphertext is kept.
//
// Push constants: key (8 words), nonce (3 words), first counter, words of the message.
// Bindings: 0 message, in and out; 1 xor of the ciphertext words of each block.
// Dispatch: ceil(words / 16 / 8) groups of 8.
// Compiled by: glslangValidator -V --target-env vulkan1.1 chacha20.comp -o chacha20.spv
// deburr-run: groups=2,1,1 push=11*bits+1*u32(1)+1*u32(183) spec=0:20 0.0=183*bits:out 0.1=12*zero:out
#version 450

layout(local_size_x = 8) in;
layout(constant_id = 0) const uint ROUNDS = 20u;

layout(push_constant) uniform Secret {
    uint key[8];
    uint nonce[3];
    uint counter;
    uint words;
};
layout(std430, set = 0, binding = 0) buffer Message { uint message[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Tags { uint tags[]; };

uint rotate_left(uint x, int by) {
    return (x << by) | (x >> (32 - by));
}

void quarter_round(inout uvec4 v) {
    v.x += v.y;
    v.w = rotate_left(v.w ^ v.x, 16);
    v.z += v.w;
    v.y = rotate_left(v.y ^ v.z, 12);
    v.x += v.y;
    v.w = rotate_left(v.w ^ v.x, 8);
    v.z += v.w;
    v.y = rotate_left(v.y ^ v.z, 7);
}

// A column or a diagonal of the state: element i of row r stands at 4 r + (i + r shift) mod 4.
void mix_lane(inout uint state[16], uint lane, uint shift) {
    uint a = lane;
    uint b = 4u + ((lane + shift) & 3u);
    uint c = 8u + ((lane + 2u * shift) & 3u);
    uint d = 12u + ((lane + 3u * shift) & 3u);
    uvec4 v = uvec4(state[a], state[b], state[c], state[d]);
    quarter_round(v);
    state[a] = v.x;
    state[b] = v.y;
    state[c] = v.z;
    state[d] = v.w;
}

void main() {
    uint block = gl_GlobalInvocationID.x;
    if (block * 16u >= words) {
        return;
    }
    uint initial[16];
    initial[0] = 0x61707865u;
    initial[1] = 0x3320646eu;
    initial[2] = 0x79622d32u;
    initial[3] = 0x6b206574u;
    for (uint i = 0u; i < 8u; i++) {
        initial[4u + i] = key[i];
    }
    initial[12] = counter + block;
    for (uint i = 0u; i < 3u; i++) {
        initial[13u + i] = nonce[i];
    }

    uint state[16] = initial;
    for (uint round = 0u; round < ROUNDS; round += 2u) {
        for (uint lane = 0u; lane < 4u; lane++) {
            mix_lane(state, lane, 0u);
        }
        for (uint lane = 0u; lane < 4u; lane++) {
            mix_lane(state, lane, 1u);
        }
    }

    uint tag = 0u;
    for (uint i = 0u; i < 16u; i++) {
        uint at = block * 16u + i;
        if (at < words) {
            uint cipher = message[at] ^ (state[i] + initial[i]);
            message[at] = cipher;
            tag ^= cipher;
        }
    }
    tags[block] = tag;
}
