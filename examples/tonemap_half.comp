// Tone mapping in half precision: exposure by the block's average log luminance, an 8 x 8 local contrast step, a filmic
// curve, saturation, and packing to R11G11B10 floats and RGBA8. 16-bit storage and arithmetic.
//
// Bindings: 0 Params; 1 HDR pixels, four halves each; 2 RGBA8 pixels; 3 R11G11B10 pixels; 4 per block (log mean, largest).
// Dispatch: ceil(width / 8) x ceil(height / 8) groups.
// Compiled by: glslangValidator -V --target-env vulkan1.1 tonemap_half.comp -o tonemap_half.spv
// deburr-run: groups=3,2,1 0.0=1*u32(20)+1*u32(13)+1*f32(0.18)+1*f32(1.1) 0.1=520*f16(0.125..2) 0.2=260*zero:out 0.3=260*zero:out 0.4=12*zero:out
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x = 8, local_size_y = 8) in;

layout(std140, set = 0, binding = 0) uniform Params {
    uvec2 size;
    float middle_grey;
    float saturation;
};
layout(std430, set = 0, binding = 1) readonly buffer Source { f16vec4 source[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Display { uint display[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Compact { uint compact[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Blocks { vec2 blocks[]; };

shared float log_luminance[64];
shared float largest[64];
shared float16_t luminances[64];

float16_t luminance(f16vec3 c) {
    return dot(c, f16vec3(0.2126hf, 0.7152hf, 0.0722hf));
}

// x (a x + b) / (x (c x + d) + e), in half precision.
f16vec3 filmic(f16vec3 x) {
    f16vec3 over = x * (2.51hf * x + 0.03hf);
    f16vec3 under = x * (2.43hf * x + 0.59hf) + 0.14hf;
    return clamp(over / under, f16vec3(0.0hf), f16vec3(1.0hf));
}

// An unsigned float of 5 exponent bits and `mantissa` bits out of the bits of a half, rounded down.
uint narrow(float16_t x, int mantissa) {
    uint half_bits = packHalf2x16(vec2(max(float(x), 0.0), 0.0)) & 0x7fffu;
    return half_bits >> (10 - mantissa);
}

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    uint lane = gl_LocalInvocationIndex;
    bool inside = at.x < size.x && at.y < size.y;
    uint index = min(at.y, size.y - 1u) * size.x + min(at.x, size.x - 1u);

    f16vec3 colour = max(source[index].rgb, f16vec3(0.0hf));
    float16_t own = luminance(colour);
    luminances[lane] = own;
    log_luminance[lane] = log2(float(own) + 0.0001);
    largest[lane] = float(own);
    barrier();
    for (uint width = 32u; width > 0u; width >>= 1) {
        if (lane < width) {
            log_luminance[lane] += log_luminance[lane + width];
            largest[lane] = max(largest[lane], largest[lane + width]);
        }
        barrier();
    }
    float mean = log_luminance[0] / 64.0;
    float16_t exposure = float16_t(clamp(middle_grey / exp2(mean), 0.05, 8.0));

    // Local contrast: the pixel against the mean of its neighbours in the block.
    uint x = gl_LocalInvocationID.x;
    uint y = gl_LocalInvocationID.y;
    float16_t around = 0.0hf;
    float16_t taken = 0.0hf;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int nx = int(x) + dx;
            int ny = int(y) + dy;
            if ((dx != 0 || dy != 0) && nx >= 0 && ny >= 0 && nx < 8 && ny < 8) {
                around += luminances[ny * 8 + nx];
                taken += 1.0hf;
            }
        }
    }
    float16_t ratio = own / max(around / taken, 0.001hf);
    float16_t sharpen = mix(1.0hf, clamp(ratio, 0.5hf, 2.0hf), 0.2hf);

    f16vec3 exposed = colour * exposure * sharpen;
    f16vec3 mapped = filmic(exposed);
    float16_t grey = luminance(mapped);
    f16vec3 vivid = clamp(mix(f16vec3(grey), mapped, float16_t(saturation)), f16vec3(0.0hf), f16vec3(1.0hf));

    if (inside) {
        vec3 gamma = pow(vec3(vivid), vec3(1.0 / 2.2));
        display[index] = packUnorm4x8(vec4(gamma, float(source[index].a)));
        compact[index] = narrow(exposed.x, 6) | (narrow(exposed.y, 6) << 11) | (narrow(exposed.z, 5) << 22);
    }
    if (lane == 0u) {
        uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        blocks[group] = vec2(mean, largest[0]);
    }
}
