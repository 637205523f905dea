//! `vkrun JOB`: runs the job file and writes the buffers it names; `vkrun --probe`: tells the size of the device's
//! subgroups and its name.
//!
//! Exit: 0 done, 1 wrong job or a failed call, 2 wrong command line, 3 no device or an unsupported module, 4 out of time.

use deburr_vulkan::{Budget, Error, FENCE_SECONDS, Job, device, words};
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let argv: Vec<String> = std::env::args().skip(1).collect();
    let [argument] = argv.as_slice() else {
        eprintln!("usage: vkrun JOB | --probe");
        return ExitCode::from(2);
    };
    watch();
    let done = if argument == "--probe" {
        device::probe().map(|(name, subgroup)| println!("{subgroup} {name}"))
    } else {
        run(argument)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Ends the process when a call of the driver outside the fence, its compiler above all, doesn't return.
fn watch() {
    std::thread::spawn(|| {
        let budget = Budget::new(3 * FENCE_SECONDS);
        while !budget.is_spent() {
            std::thread::sleep(Duration::from_secs(1));
        }
        eprintln!("error: the driver did not return within {} s", 3 * FENCE_SECONDS);
        std::process::exit(4);
    });
}

fn run(path: &str) -> Result<(), Error> {
    let read = |path: &std::path::Path| {
        std::fs::read(path).map_err(|e| Error::Invalid(format!("{}: {e}", path.display())))
    };
    let text = std::fs::read_to_string(path).map_err(|e| Error::Invalid(format!("{path}: {e}")))?;
    let job = Job::parse(&text)?;
    let module = words(&read(&job.module)?)?;
    let push = job.push.as_deref().map(read).transpose()?.unwrap_or_default();
    let mut buffers = Vec::new();
    for b in &job.buffers {
        buffers.push(device::Buffer { set: b.set, binding: b.binding, bytes: read(&b.input)? });
    }
    device::dispatch(&module, &job, &push, &mut buffers)?;
    for (binding, buffer) in job.buffers.iter().zip(&buffers) {
        if let Some(path) = &binding.output {
            std::fs::write(path, &buffer.bytes)
                .map_err(|e| Error::Invalid(format!("{}: {e}", path.display())))?;
        }
    }
    Ok(())
}
