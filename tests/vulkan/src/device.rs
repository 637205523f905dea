//! The Vulkan calls: one instance, device, pipeline and dispatch a process.
//!
//! Nothing is destroyed: the process ends after one dispatch, and after a fence that never fires destruction would hang.
//! The unsafe blocks call Vulkan with handles made above them on the same device, and structures whose slices outlive
//! the call; where more is needed, the block says so.

use crate::{Budget, Error, FENCE_SECONDS, Interface, Job, Kind};
use ash::{Device, Entry, Instance, vk};
use std::ffi::{CStr, CString};

/// A buffer to bind.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Contents: before the dispatch, and afterwards those it left.
    pub bytes: Vec<u8>,
}

/// A buffer on the device.
struct Bound {
    buffer: vk::Buffer,
    memory: *mut u8,
    kind: vk::DescriptorType,
}

fn vulkan(call: &str) -> impl Fn(vk::Result) -> Error {
    let call = call.to_owned();
    move |e| Error::Vulkan(format!("{call}: {e:?}"))
}

fn open() -> Result<(Entry, Instance, vk::PhysicalDevice), Error> {
    // SAFETY: the loader is the system's Vulkan loader, whose initialisers may run here.
    let entry = unsafe { Entry::load() }.map_err(|e| Error::NoDevice(e.to_string()))?;
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&app);
    // SAFETY: see the module's comment.
    let instance = unsafe { entry.create_instance(&info, None) }
        .map_err(|e| Error::NoDevice(format!("{e:?}")))?;
    // SAFETY: see the module's comment.
    let devices = unsafe { instance.enumerate_physical_devices() }
        .map_err(|e| Error::NoDevice(format!("{e:?}")))?;
    let first = devices.first().copied().ok_or_else(|| Error::NoDevice("none is listed".into()))?;
    Ok((entry, instance, first))
}

/// Name of the device that jobs run on, and the invocations of a subgroup on it.
///
/// # Errors
/// If there is none.
pub fn probe() -> Result<(String, u32), Error> {
    let (_entry, instance, physical) = open()?;
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut subgroup);
    // SAFETY: see the module's comment.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let name = properties
        .properties
        .device_name_as_c_str()
        .map_or("unnamed".into(), |n| n.to_string_lossy().into_owned());
    Ok((name, subgroup.subgroup_size))
}

/// Makes a device with every core feature that there is, and with float atomics.
fn device(instance: &Instance, physical: vk::PhysicalDevice) -> Result<Device, Error> {
    const FLOAT_ATOMICS: &CStr = c"VK_EXT_shader_atomic_float";
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut atomics = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
    // SAFETY: see the module's comment.
    let extensions = unsafe { instance.enumerate_device_extension_properties(physical) }
        .map_err(vulkan("vkEnumerateDeviceExtensionProperties"))?;
    let has_atomics = extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(FLOAT_ATOMICS));
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    let mut names = Vec::new();
    if has_atomics {
        features = features.push_next(&mut atomics);
        names.push(FLOAT_ATOMICS.as_ptr());
    }
    // SAFETY: the chain's structures live to the end of this function.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    let priorities = [1.0];
    let queues =
        [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&priorities)];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut features);
    // SAFETY: as above; the extension's name is a static string.
    unsafe { instance.create_device(physical, &info, None) }.map_err(vulkan("vkCreateDevice"))
}

/// Runs a module on buffers, which then have the contents that it left.
///
/// # Errors
/// If there is no device, the module can't run on it, or it doesn't end.
pub fn dispatch(
    module: &[u32],
    job: &Job,
    push: &[u8],
    buffers: &mut [Buffer],
) -> Result<(), Error> {
    let interface = Interface::of(module)?;
    if interface.descriptors.iter().any(|d| d.kind == Kind::Other) {
        return Err(Error::Unsupported("descriptors other than single buffers".into()));
    }
    if let Some(d) = interface
        .descriptors
        .iter()
        .find(|d| !buffers.iter().any(|b| (b.set, b.binding) == (d.set, d.binding)))
    {
        return Err(Error::Invalid(format!("no buffer for set {}, binding {}", d.set, d.binding)));
    }
    let (_entry, instance, physical) = open()?;
    let device = device(&instance, physical)?;
    // SAFETY: see the module's comment.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let memory_type = (0..memory.memory_type_count)
        .find(|i| memory.memory_types[*i as usize].property_flags.contains(wanted))
        .ok_or_else(|| Error::Unsupported("no host-visible memory".into()))?;
    let mut bound = Vec::new();
    for buffer in &*buffers {
        let kind = match interface.kind(buffer.set, buffer.binding) {
            Some(Kind::Uniform) => vk::DescriptorType::UNIFORM_BUFFER,
            _ => vk::DescriptorType::STORAGE_BUFFER,
        };
        bound.push(bind(&device, memory_type, &buffer.bytes, kind)?);
    }
    let run = Run::new(&device, module, job, push, buffers, &bound)?;
    run.submit(&device, job, push)?;
    for (buffer, bound) in buffers.iter_mut().zip(&bound) {
        // SAFETY: the memory is mapped with at least this size and coherent, and the fence says that the device is done.
        let after = unsafe { std::slice::from_raw_parts(bound.memory, buffer.bytes.len()) };
        buffer.bytes = after.to_vec();
    }
    Ok(())
}

/// Makes a mapped buffer with these contents.
fn bind(
    device: &Device,
    memory_type: u32,
    bytes: &[u8],
    kind: vk::DescriptorType,
) -> Result<Bound, Error> {
    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER;
    let info = vk::BufferCreateInfo::default().size((bytes.len() as u64).max(16)).usage(usage);
    // SAFETY: see the module's comment. The copy stays within the allocation, whose size is at least the buffer's.
    unsafe {
        let buffer = device.create_buffer(&info, None).map_err(vulkan("vkCreateBuffer"))?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(memory_type);
        let allocation = device.allocate_memory(&info, None).map_err(vulkan("vkAllocateMemory"))?;
        device.bind_buffer_memory(buffer, allocation, 0).map_err(vulkan("vkBindBufferMemory"))?;
        let memory = device
            .map_memory(allocation, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
            .map_err(vulkan("vkMapMemory"))?
            .cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len());
        Ok(Bound { buffer, memory, kind })
    }
}

/// A pipeline with its descriptor sets.
struct Run {
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    sets: Vec<vk::DescriptorSet>,
}

impl Run {
    fn new(
        device: &Device,
        module: &[u32],
        job: &Job,
        push: &[u8],
        buffers: &[Buffer],
        bound: &[Bound],
    ) -> Result<Run, Error> {
        let set_layouts = set_layouts(device, buffers, bound)?;
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(push.len() as u32)];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        if !push.is_empty() {
            info = info.push_constant_ranges(&ranges);
        }
        // SAFETY: see the module's comment.
        let layout = unsafe { device.create_pipeline_layout(&info, None) }
            .map_err(vulkan("vkCreatePipelineLayout"))?;
        let pipeline = pipeline(device, module, job, layout)?;
        let sets = descriptor_sets(device, &set_layouts, buffers, bound)?;
        Ok(Run { layout, pipeline, sets })
    }

    /// Dispatches and waits.
    fn submit(&self, device: &Device, job: &Job, push: &[u8]) -> Result<(), Error> {
        let [x, y, z] = job.groups;
        // SAFETY: see the module's comment. The commands are recorded once and submitted once.
        unsafe {
            let info = vk::CommandPoolCreateInfo::default();
            let pool =
                device.create_command_pool(&info, None).map_err(vulkan("vkCreateCommandPool"))?;
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let commands = device
                .allocate_command_buffers(&info)
                .map_err(vulkan("vkAllocateCommandBuffers"))?;
            let first = commands[0];
            let compute = vk::PipelineBindPoint::COMPUTE;
            device
                .begin_command_buffer(first, &vk::CommandBufferBeginInfo::default())
                .map_err(vulkan("vkBeginCommandBuffer"))?;
            device.cmd_bind_pipeline(first, compute, self.pipeline);
            if !self.sets.is_empty() {
                device.cmd_bind_descriptor_sets(first, compute, self.layout, 0, &self.sets, &[]);
            }
            if !push.is_empty() {
                device.cmd_push_constants(
                    first,
                    self.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    push,
                );
            }
            device.cmd_dispatch(first, x, y, z);
            device.end_command_buffer(first).map_err(vulkan("vkEndCommandBuffer"))?;
            let fence = device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(vulkan("vkCreateFence"))?;
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            let queue = device.get_device_queue(0, 0);
            device.queue_submit(queue, &submit, fence).map_err(vulkan("vkQueueSubmit"))?;
            let budget = Budget::new(FENCE_SECONDS);
            loop {
                match device.wait_for_fences(&[fence], true, 500_000_000) {
                    Err(vk::Result::TIMEOUT) if budget.is_spent() => break Err(Error::Timeout),
                    Err(vk::Result::TIMEOUT) => {}
                    done => break done.map_err(vulkan("vkWaitForFences")),
                }
            }
        }
    }
}

/// One layout a set, from 0 to the last that is bound.
fn set_layouts(
    device: &Device,
    buffers: &[Buffer],
    bound: &[Bound],
) -> Result<Vec<vk::DescriptorSetLayout>, Error> {
    let sets = buffers.iter().map(|b| b.set + 1).max().unwrap_or(0);
    if sets > 8 {
        return Err(Error::Unsupported(format!("{sets} descriptor sets")));
    }
    (0..sets)
        .map(|set| {
            let bindings: Vec<_> = buffers
                .iter()
                .zip(bound)
                .filter(|(b, _)| b.set == set)
                .map(|(b, bound)| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(b.binding)
                        .descriptor_type(bound.kind)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: see the module's comment.
            unsafe { device.create_descriptor_set_layout(&info, None) }
                .map_err(vulkan("vkCreateDescriptorSetLayout"))
        })
        .collect()
}

fn descriptor_sets(
    device: &Device,
    layouts: &[vk::DescriptorSetLayout],
    buffers: &[Buffer],
    bound: &[Bound],
) -> Result<Vec<vk::DescriptorSet>, Error> {
    if layouts.is_empty() {
        return Ok(Vec::new());
    }
    let count = buffers.len().max(1) as u32;
    let sizes = [vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::STORAGE_BUFFER]
        .map(|kind| vk::DescriptorPoolSize::default().ty(kind).descriptor_count(count));
    let info =
        vk::DescriptorPoolCreateInfo::default().max_sets(layouts.len() as u32).pool_sizes(&sizes);
    // SAFETY: see the module's comment.
    let pool = unsafe { device.create_descriptor_pool(&info, None) }
        .map_err(vulkan("vkCreateDescriptorPool"))?;
    let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(layouts);
    // SAFETY: see the module's comment.
    let sets = unsafe { device.allocate_descriptor_sets(&info) }
        .map_err(vulkan("vkAllocateDescriptorSets"))?;
    for (buffer, bound) in buffers.iter().zip(bound) {
        let range =
            [vk::DescriptorBufferInfo::default().buffer(bound.buffer).range(vk::WHOLE_SIZE)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(sets[buffer.set as usize])
            .dst_binding(buffer.binding)
            .descriptor_type(bound.kind)
            .buffer_info(&range);
        // SAFETY: see the module's comment; no set is in use yet.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
    }
    Ok(sets)
}

fn pipeline(
    device: &Device,
    module: &[u32],
    job: &Job,
    layout: vk::PipelineLayout,
) -> Result<vk::Pipeline, Error> {
    let entry = CString::new(job.entry.as_str())
        .map_err(|_| Error::Invalid("the entry point's name has a zero".into()))?;
    let map: Vec<_> = job
        .specs
        .iter()
        .zip(0u32..)
        .map(|(&(id, _), i)| {
            vk::SpecializationMapEntry::default().constant_id(id).offset(4 * i).size(4)
        })
        .collect();
    let data: Vec<u8> = job.specs.iter().flat_map(|(_, bits)| bits.to_le_bytes()).collect();
    let specialisation = vk::SpecializationInfo::default().map_entries(&map).data(&data);
    let info = vk::ShaderModuleCreateInfo::default().code(module);
    // SAFETY: Vulkan takes valid modules only. A driver may do anything with another; that is why this is a process of
    // its own, and tests validate what they run.
    let module = unsafe { device.create_shader_module(&info, None) }
        .map_err(vulkan("vkCreateShaderModule"))?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(&entry)
        .specialization_info(&specialisation);
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
    // SAFETY: see the module's comment.
    let pipelines =
        unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    pipelines.map(|p| p[0]).map_err(|(_, e)| vulkan("vkCreateComputePipelines")(e))
}
