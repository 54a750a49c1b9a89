//! Runs a target on random mutations of its kept inputs, without a fuzzer: it finds less than one,
//! and needs no instrumented build.
//!
//! ```sh
//! cargo run -p cento-fuzz --example mutate -- labels 60 1
//! ```
//!
//! The arguments are the target, seconds, and a seed. An input that violates a guarantee is written
//! to the current folder.

use std::error::Error;
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().ok_or("which target?")?;
    let seconds: u64 = arguments.next().ok_or("how many seconds?")?.parse()?;
    let mut random = Random(arguments.next().map_or(Ok(1), |seed| seed.parse())?);
    let targets = cento_fuzz::TARGETS.iter();
    let (_, target) = targets
        .copied()
        .find(|(known, _)| *known == name)
        .ok_or("there is no such target")?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(&name);
    let mut inputs = Vec::new();
    for entry in fs::read_dir(folder)? {
        inputs.push(fs::read(entry?.path())?);
    }
    // Panics of libraries are caught by the product; those of a target are reported below.
    set_hook(Box::new(|_| ()));
    let (begun, mut runs, mut violations) = (Instant::now(), 0u64, 0u64);
    while begun.elapsed() < Duration::from_secs(seconds) {
        let input = mutated(&inputs, &mut random);
        runs += 1;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
            violations += 1;
            let file = format!("{name}-{violations}.input");
            fs::write(&file, &input)?;
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            let text = text.unwrap_or_default();
            writeln!(std::io::stdout(), "{file}: {text}")?;
            if violations == 20 {
                break;
            }
        }
    }
    let elapsed = begun.elapsed().as_secs();
    writeln!(
        std::io::stdout(),
        "{name}: {runs} runs in {elapsed} s, {violations} violations"
    )?;
    Ok(())
}

/// Changes an input in one to eight places, most often after its first line.
fn mutated(inputs: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let Some(input) = inputs.get(random.below(inputs.len())) else {
        return Vec::new();
    };
    let mut bytes = input.clone();
    let line = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    for _ in 0..1 + random.below(8) {
        let first = if random.below(10) == 0 {
            0
        } else {
            line.min(bytes.len())
        };
        let at = first + random.below(bytes.len() - first + 1);
        let value = [0, 1, 0x7f, 0x80, 0xff, b'0', b'9', random.below(256) as u8];
        let value = value.get(random.below(8)).copied().unwrap_or(0);
        match random.below(7) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, value),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                // A piece of another input.
                let other = inputs.get(random.below(inputs.len())).unwrap_or(input);
                let begin = random.below(other.len() + 1);
                let end = (begin + random.below(64)).min(other.len());
                let piece = other.get(begin..end).unwrap_or_default();
                bytes.splice(at..at, piece.iter().copied());
            }
            4 => {
                let end = (at + 1 + random.below(8)).min(bytes.len());
                bytes.get_mut(at..end).unwrap_or_default().fill(value);
            }
            5 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
        }
    }
    bytes
}

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound.max(1) as u64) as usize
    }
}
