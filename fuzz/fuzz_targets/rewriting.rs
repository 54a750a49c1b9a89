//! Fuzzes [`cento_fuzz::rewriting`].

#![no_main]

libfuzzer_sys::fuzz_target!(
    // Panics of the Parquet library are caught and counted as damage. The fuzzer's hook would end
    // the run before that; an uncaught panic still does.
    init: std::panic::set_hook(Box::new(|_| ())),
    |bytes: &[u8]| cento_fuzz::rewriting(bytes)
);
