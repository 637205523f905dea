// Primality of 64-bit integers (Miller-Rabin with the twelve bases that decide every n < 2^64) in Montgomery form, and
// for composites the smallest factor below 256; 64-bit integer arithmetic throughout.
//
// Bindings: 0 Params; 1 candidates (64-bit); 2 per candidate (1 prime | 0 composite, smallest small factor or 0, bases
// tried, multiplications); 3 2^64 mod n (64-bit).
// Dispatch: ceil(candidates / 16) groups of 16.
// Compiled by: glslangValidator -V --target-env vulkan1.1 miller_rabin.comp -o miller_rabin.spv
// deburr-run: groups=2,1,1 0.0=1*u32(24)+1*u32(1)+2*zero 0.1=48*bits 0.2=96*zero:out 0.3=48*zero:out
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 16) in;

layout(std140, set = 0, binding = 0) uniform Params {
    uint count;
    uint make_odd; // not 0: the lowest bit of every candidate is set first
};
layout(std430, set = 0, binding = 1) readonly buffer Candidates { uint64_t candidates[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Verdicts { uvec4 verdicts[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Remainders { uint64_t remainders[]; };

const uint BASES[12] = uint[12](2u, 3u, 5u, 7u, 11u, 13u, 17u, 19u, 23u, 29u, 31u, 37u);

uint multiplications = 0u;

// High and low word of the 128-bit product.
void multiply(uint64_t a, uint64_t b, out uint64_t high, out uint64_t low) {
    const uint64_t MASK = 0xfffffffful;
    uint64_t ll = (a & MASK) * (b & MASK);
    uint64_t lh = (a & MASK) * (b >> 32);
    uint64_t hl = (a >> 32) * (b & MASK);
    uint64_t hh = (a >> 32) * (b >> 32);
    uint64_t middle = (ll >> 32) + (lh & MASK) + (hl & MASK);
    high = hh + (lh >> 32) + (hl >> 32) + (middle >> 32);
    low = (middle << 32) | (ll & MASK);
}

// a b / 2^64 mod n, for odd n with n * inverse = 1 mod 2^64 (Montgomery 1985).
uint64_t reduce_product(uint64_t a, uint64_t b, uint64_t n, uint64_t inverse) {
    uint64_t high, low, back, unused;
    multiply(a, b, high, low);
    multiply(low * inverse, n, back, unused);
    multiplications++;
    return high >= back ? high - back : high - back + n;
}

uint64_t inverse_of(uint64_t n) {
    uint64_t x = n * 3ul ^ 2ul; // right to 5 bits; each Newton step doubles them
    for (int i = 0; i < 4; i++) {
        x *= 2ul - n * x;
    }
    return x;
}

// 2x mod n without overflow.
uint64_t twice(uint64_t x, uint64_t n) {
    return x >= n - x ? x - (n - x) : x + x;
}

uint small_factor(uint64_t n) {
    for (uint p = 2u; p < 256u; p += p == 2u ? 1u : 2u) {
        if (uint64_t(p) * p > n) {
            return 0u;
        }
        // The remainder by 16 bits at a time: no 64-bit division.
        uint r = 0u;
        for (int shift = 48; shift >= 0; shift -= 16) {
            r = ((r << 16) | (uint(n >> shift) & 0xffffu)) % p;
        }
        if (r == 0u) {
            return p;
        }
    }
    return 0u;
}

bool strong_probable_prime(uint64_t n, uint64_t inverse, uint64_t one, uint64_t base, uint64_t odd, int twos) {
    uint64_t minus_one = n - one;
    uint64_t power = one;
    uint64_t square = base;
    for (uint64_t left = odd; left != 0ul; left >>= 1) {
        if ((left & 1ul) == 1ul) {
            power = reduce_product(power, square, n, inverse);
        }
        square = reduce_product(square, square, n, inverse);
    }
    if (power == one || power == minus_one) {
        return true;
    }
    for (int i = 1; i < twos; i++) {
        power = reduce_product(power, power, n, inverse);
        if (power == minus_one) {
            return true;
        }
        if (power == one) {
            return false;
        }
    }
    return false;
}

void main() {
    uint id = gl_GlobalInvocationID.x;
    if (id >= count) {
        return;
    }
    uint64_t n = candidates[id];
    if (make_odd != 0u) {
        n |= 1ul;
    }
    uvec4 verdict = uvec4(0u);
    uint64_t one = 0ul;
    if (n >= 2ul) {
        verdict.y = small_factor(n);
        if (verdict.y == 0u) {
            if (n < 65536ul) {
                verdict.x = 1u;
            } else {
                uint64_t inverse = inverse_of(n);
                // 2^64 mod n by doubling 2^63 mod n or less: start from the top bit of n.
                int top = (n >> 32) != 0ul ? 32 + findMSB(uint(n >> 32)) : findMSB(uint(n));
                one = (1ul << top) >= n ? 0ul : 1ul << top;
                for (int i = top; i < 64; i++) {
                    one = twice(one, n);
                }
                uint64_t odd = n - 1ul;
                int twos = 0;
                while ((odd & 1ul) == 0ul) {
                    odd >>= 1;
                    twos++;
                }
                bool prime = true;
                for (int i = 0; i < 12 && prime; i++) {
                    uint64_t base = 0ul;
                    for (uint k = 0u; k < BASES[i]; k++) {
                        base = base >= n - one ? base - (n - one) : base + one;
                    }
                    prime = strong_probable_prime(n, inverse, one, base, odd, twos);
                    verdict.z++;
                }
                verdict.x = prime ? 1u : 0u;
            }
        }
    }
    verdict.w = multiplications;
    verdicts[id] = verdict;
    remainders[id] = one;
}
