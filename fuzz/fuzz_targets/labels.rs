//! Fuzzes [`cento_fuzz::labels`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cento_fuzz::labels(bytes));
