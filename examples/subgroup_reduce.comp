// Statistics of 32-bit integers with subgroup operations, merged over the group in shared memory: 64-bit sum as two
// words, smallest, largest, xor, count of a value by ballot, and an exclusive prefix sum. The result does not depend on
// the size of a subgroup, provided that subgroups take invocations in order.
//
// Bindings: 0 Params; 1 input; 2 exclusive prefix sums within the block; 3 per block (sum low, sum high, smallest,
// largest), (xor, matches, any match, all equal).
// Dispatch: ceil(count / 128) groups of 128.
// Compiled by: glslangValidator -V --target-env vulkan1.1 subgroup_reduce.comp -o subgroup_reduce.spv
// deburr-run: groups=3,1,1 0.0=1*u32(300)+1*u32(7)+2*zero 0.1=300*u32(0..50) 0.2=300*zero:out 0.3=24*zero:out
#version 450
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_arithmetic : require

layout(local_size_x = 128) in;

layout(std140, set = 0, binding = 0) uniform Params {
    uint count;
    uint wanted;
};
layout(std430, set = 0, binding = 1) readonly buffer Input { uint values[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Prefix { uint prefix[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Blocks { uvec4 blocks[]; };

// A group of 128 has at most 128 subgroups.
shared uvec2 sums[128];
shared uvec4 extremes[128];
shared uint found;

void main() {
    uint id = gl_GlobalInvocationID.x;
    bool present = id < count;
    uint value = present ? values[id] : 0u;
    if (gl_LocalInvocationIndex == 0u) {
        found = 0u;
    }
    barrier();

    // 16-bit halves, so that the subgroup's sums cannot overflow.
    uint low = subgroupAdd(value & 0xffffu);
    uint high = subgroupAdd(value >> 16);
    uint before = subgroupExclusiveAdd(value);
    uint smallest = subgroupMin(present ? value : 0xffffffffu);
    uint largest = subgroupMax(value);
    uint parity = subgroupXor(value);
    uvec4 ballot = subgroupBallot(present && value == wanted);
    uint matches = subgroupBallotBitCount(ballot);
    bool any_match = subgroupAny(present && value == wanted);
    if (subgroupElect()) {
        if (any_match) {
            atomicOr(found, 1u);
        }
        uint carried;
        uint sum = uaddCarry(low, high << 16, carried);
        sums[gl_SubgroupID] = uvec2(sum, (high >> 16) + carried);
        extremes[gl_SubgroupID] = uvec4(smallest, largest, parity, matches);
    }
    barrier();

    // Every invocation adds up the subgroups before its own.
    uint start = 0u;
    for (uint s = 0u; s < gl_SubgroupID; s++) {
        start += sums[s].x;
    }
    if (present) {
        prefix[id] = start + before;
    }

    if (gl_LocalInvocationIndex == 0u) {
        uint total = 0u;
        uint carry = 0u;
        uvec4 merged = uvec4(0xffffffffu, 0u, 0u, 0u);
        for (uint s = 0u; s < gl_NumSubgroups; s++) {
            uint carried;
            total = uaddCarry(total, sums[s].x, carried);
            carry += sums[s].y + carried;
            uvec4 e = extremes[s];
            merged = uvec4(min(merged.x, e.x), max(merged.y, e.y), merged.z ^ e.z, merged.w + e.w);
        }
        uint block = gl_WorkGroupID.x;
        blocks[2u * block] = uvec4(total, carry, merged.xy);
        blocks[2u * block + 1u] = uvec4(merged.z, merged.w, found, merged.x == merged.y ? 1u : 0u);
    }
}
