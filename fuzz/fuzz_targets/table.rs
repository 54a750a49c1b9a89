//! Fuzzes [`cento_fuzz::table`].

#![no_main]

libfuzzer_sys::fuzz_target!(
    // What the Parquet library panics over is caught and counted as damage. The hook of the fuzzer
    // would end the run before that; a panic that nobody catches still does.
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| cento_fuzz::table(bytes)
);
